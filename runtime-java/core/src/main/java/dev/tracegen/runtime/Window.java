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
 * <p>As in {@link CallTree} the exit of an outer call also ends inner calls whose exits are missing. The exit of
 * a call from before the window ends all calls that were entered in it.
 *
 * <p>What a window keeps has no bound: a call that is open or took long is never left out. If there is no memory, all
 * that it has kept is lost, and counted, and so is each record until it is closed. They have numbers, so a reader sees
 * how many are missing.
 *
 * <p>Used under the ring's lock.
 */
final class Window {
    private static final long[] NO_RECORDS = new long[0];
    private static final int[] NO_CALLS = new int[0];
    private static final int FIRST = 64;

    private final MemoryBudget memory;
    private long taken;
    private boolean open;
    private long begin;
    private long longTicks;

    /** Whether there was no memory, and how many records were lost since. */
    private boolean full;
    private long lost;
    private long[] kept = NO_RECORDS;
    private int size;

    /** Where in kept the entries of the calls are that were entered in the window and are open. */
    private int[] entries = NO_CALLS;
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
     * Creates a closed window. Each ring has one, so that to open it needs no memory.
     *
     * @param memory what an open window needs is taken from it
     */
    Window(MemoryBudget memory) {
        this.memory = memory;
    }

    /**
     * Opens the window.
     *
     * @param ticks the time in ticks
     * @param longCall calls that take at least so many ticks are kept
     */
    void open(long ticks, long longCall) {
        begin = ticks;
        longTicks = longCall;
        open = true;
    }

    boolean isOpen() {
        return open;
    }

    /** Adds a record. If there is no memory for it, the window loses all that it has kept. Never throws. */
    void add(long record) {
        if (!hasSpace()) {
            lost++;
            return;
        }
        // From here on nothing is called that could fail: no stack may be left.
        if (record < 0) {
            entries[depth++] = size;
            kept[size++] = record;
            return;
        }
        long id = record >>> Ring.ID_SHIFT;
        int k = depth - 1;
        while (k >= 0 && (kept[entries[k]] >>> Ring.ID_SHIFT & 0xFFFFF) != id) {
            k--;
        }
        boolean complete = k >= 0;
        int outer = complete ? k : 0;
        if (depth > 0 && (record & Ring.TIME_MASK) - (kept[entries[outer]] & Ring.TIME_MASK) < longTicks) {
            leftOut += depth - outer;
            size = entries[outer];
            depth = outer;
            if (complete) {
                return;
            }
        }
        depth = outer;
        kept[size++] = record;
    }

    /** Reports whether there is space for another record. If there is no memory, what was kept is lost and counted. */
    private boolean hasSpace() {
        if (full) {
            return false;
        }
        if (size < kept.length && depth < entries.length) {
            return true;
        }
        try {
            int records = size < kept.length ? 0 : Math.max(FIRST, size);
            int calls = depth < entries.length ? 0 : Math.max(FIRST, depth);
            long more = 8L * records + 4L * calls;
            if (memory.take(more)) {
                taken += more;
                kept = Arrays.copyOf(kept, kept.length + records);
                entries = Arrays.copyOf(entries, entries.length + calls);
                return true;
            }
        } catch (OutOfMemoryError e) {
            memory.heapIsFull();
        } catch (Throwable e) {
            // No stack is left.
        }
        full = true;
        lost = size;
        size = 0;
        depth = 0;
        return false;
    }

    /** Closes the window and returns its memory. */
    private void close() {
        open = false;
        full = false;
        lost = 0;
        depth = 0;
        kept = NO_RECORDS;
        entries = NO_CALLS;
        memory.give(taken);
        taken = 0;
    }

    /** Returns how many records were lost, because there was no memory. Then {@link #size} is 0. */
    long lost() {
        return lost;
    }

    int size() {
        return size;
    }

    /** Returns how many calls were left out. May be called without the lock: then it may be an older number. */
    long leftOut() {
        return leftOut;
    }

    long record(int k) {
        return kept[k];
    }

    /**
     * Removes the first records, which were put into the ring under the number first. Closes the window if no record is
     * left.
     *
     * @param now the time in ticks
     */
    Closed take(long first, int n, long now) {
        long calls = leftOut;
        System.arraycopy(kept, n, kept, 0, size - n);
        size -= n;
        int put = 0;
        while (put < depth && entries[put] < n) {
            put++;
        }
        depth -= put;
        for (int k = 0; k < depth; k++) {
            entries[k] = entries[put + k] - n;
        }
        leftOut = 0;
        if (size == 0) {
            close();
        }
        return new Closed(begin, Math.max(begin, now), first, first + n, calls);
    }
}
