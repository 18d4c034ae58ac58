package plant;

import java.lang.management.ManagementFactory;

/** A function for H2 that computes for long. */
public final class Ledger {
    private Ledger() {
    }

    public static int audit(int year) {
        return reconcile(year) + 1;
    }

    private static int reconcile(int year) {
        int sum = 0;
        for (int quarter = 0; quarter < 4; quarter++) {
            sum += digest(year * 4 + quarter);
        }
        return sum;
    }

    /** A second on a processor, however busy the machine is. */
    private static int digest(int seed) {
        long end = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() + 1000000000L;
        int sum = seed;
        while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < end) {
            for (int k = 0; k < 100000; k++) {
                sum = sum * 31 + k;
            }
        }
        return sum;
    }
}
