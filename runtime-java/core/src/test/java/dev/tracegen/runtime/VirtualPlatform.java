package dev.tracegen.runtime;

import java.util.concurrent.atomic.AtomicLong;

/** A platform whose clock is set by the test. */
final class VirtualPlatform extends Platform {
    final AtomicLong nanos = new AtomicLong(5000000000L);
    final AtomicLong cpu = new AtomicLong();
    final Thread main;
    volatile long gcCount = 3;
    volatile String lockOwner;
    volatile boolean broken;
    volatile LockWait lock;
    volatile Thread waitsForLock;
    volatile long millisPerWallClock;
    volatile String logged = "";

    VirtualPlatform() {
        main = Thread.currentThread();
    }

    void pass(long millis) {
        nanos.addAndGet(millis * 1000000L);
    }

    @Override
    public long nanoTime() {
        if (broken) {
            throw new IllegalStateException("no clock");
        }
        return nanos.get();
    }

    @Override
    public long wallMillis() {
        pass(millisPerWallClock);
        return 1795000000000L + nanos.get() / 1000000;
    }

    @Override
    public long threadCpuNanos() {
        return cpu.get();
    }

    @Override
    public long gcCount() {
        return gcCount;
    }

    @Override
    public long gcMillis() {
        return gcCount * 7;
    }

    @Override
    public String lockOwner(Thread thread) {
        return lockOwner;
    }

    @Override
    public LockWait lockWait(Thread thread) {
        return thread == waitsForLock ? lock : null;
    }

    @Override
    public Thread mainThread() {
        return main;
    }

    @Override
    public void log(String line) {
        logged += line + "\n";
    }
}
