package dev.tracegen.runtime;

import java.util.Arrays;

/**
 * What a thread did while its ring was full: every record but those of short calls that began and ended meanwhile.
 * Exits of calls that were open before, entries of calls that are open now, and calls that took long are kept with
 * their times. So when these records follow those from before the window, each call that was recorded has its true
 * begin and end, and the calls that are open are known. Only short complete calls are missing, and their number is
 * known. No single record is lost.
 *
 * <p>A call takes at least as long as the calls inside of it. So if a call is short, all that was kept since its entry
 * is of calls that have ended with it and are short. It is removed with the entry.
 *
 * <p>As in {@link OutermostCalls} the exit of an outer call also ends inner calls whose exits are missing. The exit of
 * a call from before the window ends all calls that were entered in it.
 *
 * <p>Used under the ring's lock.
 */
final class Window {
    private final long begin;
    private final long longTicks;
    private long[] kept = new long[64];
    private int size;

    /** Where in kept the entries of the calls are that were entered in the window and are open. */
    private int[] open = new int[64];
    private int depth;
    private long leftOut;

    /** A window, or a part of one, whose records were put into the ring. Immutable. */
    static final class Closed {
        /** The times of its begin and end, in ticks. */
        final long begin;
        final long end;

        /** The numbers of the first of its records that are kept, and of the record behind the last one. */
        final long firstRecord;
        final long endRecord;

        /** How many short complete calls were left out. */
        final long calls;

        Closed(long begin, long end, long firstRecord, long endRecord, long calls) {
            this.begin = begin;
            this.end = end;
            this.firstRecord = firstRecord;
            this.endRecord = endRecord;
            this.calls = calls;
        }
    }

    /**
     * Opens a window.
     *
     * @param begin the time in ticks
     * @param longTicks calls that take at least as long are kept
     */
    Window(long begin, long longTicks) {
        this.begin = begin;
        this.longTicks = longTicks;
    }

    void add(long record) {
        if (record < 0) {
            if (depth == open.length) {
                open = Arrays.copyOf(open, 2 * depth);
            }
            open[depth++] = size;
            push(record);
            return;
        }
        long id = record >>> Ring.ID_SHIFT;
        int k = depth - 1;
        while (k >= 0 && (kept[open[k]] >>> Ring.ID_SHIFT & 0xFFFFF) != id) {
            k--;
        }
        boolean complete = k >= 0;
        int outer = Math.max(0, k);
        if (depth > 0 && (record & Ring.TIME_MASK) - (kept[open[outer]] & Ring.TIME_MASK) < longTicks) {
            leftOut += depth - outer;
            size = open[outer];
            depth = outer;
            if (complete) {
                return;
            }
        }
        depth = outer;
        push(record);
    }

    private void push(long record) {
        if (size == kept.length) {
            kept = Arrays.copyOf(kept, 2 * size);
        }
        kept[size++] = record;
    }

    int size() {
        return size;
    }

    long record(int k) {
        return kept[k];
    }

    /**
     * Removes the first records, which were put into the ring under the number first.
     *
     * @param now the time in ticks
     */
    Closed take(long first, int n, long now) {
        long calls = leftOut;
        System.arraycopy(kept, n, kept, 0, size - n);
        size -= n;
        int put = 0;
        while (put < depth && open[put] < n) {
            put++;
        }
        depth -= put;
        for (int k = 0; k < depth; k++) {
            open[k] = open[put + k] - n;
        }
        leftOut = 0;
        return new Closed(begin, Math.max(begin, now), first, first + n, calls);
    }
}
