package dev.tracegen.devicecheck;

/** The method of {@link PairCost} that tracegen instruments. */
final class TracedWork {
    private TracedWork() {
    }

    static int traced(int seed) {
        int sum = seed;
        for (int i = 0; i < 3; i++) {
            sum = sum * 31 + i;
        }
        return sum;
    }
}
