package plant;

import java.lang.management.ManagementFactory;

/** What a Clojure script calls, and what sleeps. */
public final class Retry {
    /** On a busy machine the program takes longer to get here, and the sleep must be most of the time. */
    private static final long UNIT_MILLIS = Math.max(1500, (System.currentTimeMillis()
            - ManagementFactory.getRuntimeMXBean().getStartTime()) / 2);

    private Retry() {
    }

    public static long call() throws InterruptedException {
        return attempt(1);
    }

    private static long attempt(long n) throws InterruptedException {
        return n == 4 ? n : backOff(n) + attempt(n + 1);
    }

    private static long backOff(long n) throws InterruptedException {
        Thread.sleep(UNIT_MILLIS * n);
        return n;
    }
}
