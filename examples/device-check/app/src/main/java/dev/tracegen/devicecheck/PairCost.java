package dev.tracegen.devicecheck;

import java.util.Arrays;
import java.util.Locale;

/**
 * What a pair of entry and exit costs: the time of a small method that tracegen instruments, and of the same method
 * with the calls of a {@link PlainRing}, less that of the method alone. A batch runs all three in turn, so that what
 * disturbs the device meets all of them. Needs nothing of Android, so that it runs on any ART and on any JVM.
 */
final class PairCost {
    /** A clock in nanoseconds, at best the CPU time of the thread. */
    interface Clock {
        long nanos();
    }

    private static final int MAX_BATCHES = 1000;

    /** What the loops compute, so that no compiler leaves them out. */
    static volatile int sink;

    private final Clock clock;
    private final double[] bare = new double[MAX_BATCHES];
    private final double[] ring = new double[MAX_BATCHES];
    private final double[] traced = new double[MAX_BATCHES];
    private int batches;

    PairCost(Clock clock) {
        this.clock = clock;
    }

    /** Measures each loop once. The order changes from batch to batch. */
    void batch(int pairs) {
        for (int turn = 0; turn < 3; turn++) {
            int loop = (turn + batches) % 3;
            long start = clock.nanos();
            int sum = loop == 0 ? bareLoop(pairs) : loop == 1 ? ringLoop(pairs) : tracedLoop(pairs);
            double each = (clock.nanos() - start) / (double) pairs;
            (loop == 0 ? bare : loop == 1 ? ring : traced)[batches] = each;
            sink += sum;
        }
        batches++;
    }

    /** Returns a line with the medians of the batches in nanoseconds, and begins anew. */
    String line(String name) {
        double alone = median(bare);
        String line = String.format(Locale.ROOT, "%s batches=%d work=%.1f ring=%.1f traced=%.1f", name, batches, alone,
            median(ring) - alone, median(traced) - alone);
        batches = 0;
        return line;
    }

    private double median(double[] all) {
        double[] sorted = Arrays.copyOf(all, batches);
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static int bareLoop(int pairs) {
        int sum = 0;
        for (int i = 0; i < pairs; i++) {
            sum += bare(i);
        }
        return sum;
    }

    private static int ringLoop(int pairs) {
        int sum = 0;
        for (int i = 0; i < pairs; i++) {
            sum += ring(i);
        }
        return sum;
    }

    private static int tracedLoop(int pairs) {
        int sum = 0;
        for (int i = 0; i < pairs; i++) {
            sum += TracedWork.traced(i);
        }
        return sum;
    }

    static int bare(int seed) {
        int sum = seed;
        for (int i = 0; i < 3; i++) {
            sum = sum * 31 + i;
        }
        return sum;
    }

    static int ring(int seed) {
        PlainRing.enter(4711);
        int sum = seed;
        for (int i = 0; i < 3; i++) {
            sum = sum * 31 + i;
        }
        PlainRing.exit(4711);
        return sum;
    }
}
