package plant;

import java.lang.management.ManagementFactory;

/** Sleeps three calls down, for twice as long as the program has run by then. */
public class Pause {
    private static final long LEAST_MILLIS = 1500;

    public static void take(String reason) throws InterruptedException {
        wind(reason.length());
    }

    private static void wind(int turns) throws InterruptedException {
        if (turns > 0) {
            rest();
        }
    }

    /** On a busy machine the program takes longer to get here, and the pause must be most of the time. */
    private static void rest() throws InterruptedException {
        long since = System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime();
        Thread.sleep(Math.max(LEAST_MILLIS, 2 * since));
    }
}
