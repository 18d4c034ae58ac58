package dev.tracegen.runtime.report;

import dev.tracegen.runtime.Platform;
import java.util.concurrent.atomic.AtomicLong;

/** A platform whose clocks the test sets. */
final class FakePlatform extends Platform {
    final AtomicLong wall = new AtomicLong(1700000000000L);
    final AtomicLong nanos = new AtomicLong(5000000000L);
    final StringBuffer logged = new StringBuffer();
    private final Thread main = Thread.currentThread();

    void pass(long millis) {
        wall.addAndGet(millis);
        nanos.addAndGet(millis * 1000000L);
    }

    @Override
    public long nanoTime() {
        return nanos.get();
    }

    @Override
    public long wallMillis() {
        return wall.get();
    }

    @Override
    public Thread mainThread() {
        return main;
    }

    @Override
    public void log(String line) {
        logged.append(line).append('\n');
    }
}
