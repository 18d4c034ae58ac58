package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.fail;

import java.util.concurrent.CountDownLatch;

/**
 * Waits for conditions. A test must pass on a machine where it has little of the CPU, so no test takes a pause for
 * long enough.
 */
public final class Await {
    /** How long a test waits. Only a fault makes it wait so long. */
    private static final long LIMIT_NANOS = 180000000000L;

    /** A condition that another thread brings about. */
    public interface Condition {
        boolean holds() throws Exception;
    }

    private Await() {
    }

    /** Returns when the condition holds. Fails if that takes minutes. */
    public static void until(String what, Condition condition) throws Exception {
        long begin = System.nanoTime();
        while (!condition.holds()) {
            if (System.nanoTime() - begin > LIMIT_NANOS) {
                fail("waited in vain until " + what);
            }
            Thread.sleep(1);
        }
    }

    /** Returns when a latch is open. For threads that nothing interrupts. */
    public static void open(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Collects garbage. Android's {@code System.gc} does not, unless finalizers are run, too. */
    public static void collect() {
        Runtime.getRuntime().gc();
    }

    /** Stops a recorder and returns when its file is complete. */
    public static void stop(Recorder recorder) throws Exception {
        recorder.stop();
        // The recorder itself does not wait: an app must end.
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getName().matches("tracegen-(sampler|writer|delivery)")) {
                until(t + " has ended", () -> !t.isAlive());
            }
        }
    }

    /** Returns when the writer of a recorder has written all that was handed over so far. */
    public static void written(Recorder recorder) throws Exception {
        until("the writer has written everything", () -> recorder.writerIsIdle());
    }
}
