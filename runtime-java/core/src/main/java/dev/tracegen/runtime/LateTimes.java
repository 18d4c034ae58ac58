package dev.tracegen.runtime;

/**
 * The times in which the clock of the records did not move although it had to. The clock's thread adds them, and the
 * writer takes them. Bounded: intervals near each other are joined, and if there are very many, the last one is
 * extended.
 */
final class LateTimes {
    private static final int MOST = 64;

    /** Intervals are joined up to this length. */
    private static final long JOINED_NANOS = 1000000000L;

    // Begin and end of each, in nanoseconds of the platform's clock.
    private final long[] begins = new long[MOST];
    private final long[] ends = new long[MOST];
    private int size;

    synchronized void add(long begin, long end) {
        if (size > 0 && (size == MOST || end - begins[size - 1] <= JOINED_NANOS)) {
            ends[size - 1] = end;
            return;
        }
        begins[size] = begin;
        ends[size++] = end;
    }

    /** Adds intervals again that {@link #take} has returned, because they could not be written. */
    void putBack(long[] intervals) {
        for (int k = 0; k < intervals.length; k += 2) {
            add(intervals[k], intervals[k + 1]);
        }
    }

    /** Removes all intervals and returns them, begin and end of each in turn; null if there are none. */
    synchronized long[] take() {
        if (size == 0) {
            return null;
        }
        long[] all = new long[2 * size];
        for (int k = 0; k < size; k++) {
            all[2 * k] = begins[k];
            all[2 * k + 1] = ends[k];
        }
        size = 0;
        return all;
    }
}
