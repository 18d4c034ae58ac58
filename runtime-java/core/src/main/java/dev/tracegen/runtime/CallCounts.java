package dev.tracegen.runtime;

import java.util.Arrays;

/**
 * Counts the calls of each method and the time that they take, in the records that the recorder copies. A method that
 * calls itself counts its time once. Used by the sampler only.
 */
final class CallCounts {
    /** Calls that are nested deeper are counted, but not their time. */
    private static final int MAX_DEPTH = 1 << 14;

    private static final int FEWEST = 1024;

    /**
     * A hash table of the methods that were called: IDs, 0 for none. IDs are spread over all their values, so arrays
     * by ID would have 16 MB, and take longer to clear than all else that the sampler does.
     */
    private int[] keys = new int[FEWEST];
    private int size;

    /** By place in keys. */
    private int[] calls = new int[FEWEST];
    private long[] nanos = new long[FEWEST];

    /** How many calls of each method are open on the thread whose records are added; 0 between two calls of add. */
    private int[] open = new int[FEWEST];
    private long total;

    /** The open calls of one thread. There may be a thousand threads, so it has no array with all methods. */
    static final class Open {
        private int[] ids = new int[16];
        private long[] begins = new long[16];
        private int depth;

        /** The total time of windows. A call that was open in one would seem to take longer than others. */
        private long skipped;
        private long beyond;

        /** Reports whether a call of a method may be open: the methods of very deep calls are not known. */
        boolean mayHave(int id) {
            boolean found = beyond > 0;
            for (int k = 0; k < depth; k++) {
                found |= ids[k] == id;
            }
            return found;
        }

        void skip(long nanos) {
            skipped += nanos;
        }
    }

    /** Adds records of a thread. The thread's open calls are forgotten if records are missing before them. */
    void add(ThreadTrace t, RecordCopy copy, long tickNanos) {
        Open of = t.sampled.openCalls;
        if (of == null || copy.overwritten > 0) {
            of = new Open();
            t.sampled.openCalls = of;
        }
        for (int k = 0; k < of.depth; k++) {
            int place = place(of.ids[k]);
            open[place]++;
        }
        for (long r : copy.records) {
            int id = (int) (r >>> Ring.ID_SHIFT) & 0xFFFFF;
            long time = (r & Ring.TIME_MASK) * tickNanos - of.skipped;
            if (r < 0) {
                enter(of, id, time);
            } else if (of.beyond > 0) {
                of.beyond--;
            } else {
                int place = place(id);
                if (open[place] > 0) {
                    exit(of, id, time);
                }
            }
        }
        for (int k = 0; k < of.depth; k++) {
            int place = place(of.ids[k]);
            open[place] = 0;
        }
    }

    private void enter(Open of, int id, long time) {
        int place = place(id);
        calls[place]++;
        total++;
        if (of.depth == MAX_DEPTH) {
            of.beyond++;
            return;
        }
        if (of.depth == of.ids.length) {
            of.ids = Arrays.copyOf(of.ids, 2 * of.depth);
            of.begins = Arrays.copyOf(of.begins, 2 * of.depth);
        }
        of.ids[of.depth] = id;
        of.begins[of.depth++] = time;
        open[place]++;
    }

    /** Ends the innermost call of a method and the calls inside of it. */
    private void exit(Open of, int id, long time) {
        int ended;
        do {
            of.depth--;
            ended = of.ids[of.depth];
            int place = place(ended);
            if (--open[place] == 0) {
                nanos[place] += Math.max(0, time - of.begins[of.depth]);
            }
        } while (ended != id);
    }

    /** Returns the place of a method in keys, and adds it if it is not there. Then the arrays may be others. */
    private int place(int id) {
        int mask = keys.length - 1;
        int k = id * 0x9E3779B9 >>> 12 & mask;
        while (keys[k] != id) {
            if (keys[k] == 0) {
                if (2 * ++size > keys.length) {
                    grow();
                    return place(id);
                }
                keys[k] = id;
                return k;
            }
            k = k + 1 & mask;
        }
        return k;
    }

    private void grow() {
        int[] oldKeys = keys;
        int[] oldCalls = calls;
        long[] oldNanos = nanos;
        int[] oldOpen = open;
        allocate(2 * oldKeys.length);
        for (int k = 0; k < oldKeys.length; k++) {
            if (oldKeys[k] != 0) {
                int place = place(oldKeys[k]);
                calls[place] = oldCalls[k];
                nanos[place] = oldNanos[k];
                open[place] = oldOpen[k];
            }
        }
    }

    private void allocate(int length) {
        size = 0;
        keys = new int[length];
        calls = new int[length];
        nanos = new long[length];
        open = new int[length];
    }

    long total() {
        return total;
    }

    int calls(int id) {
        int place = place(id);
        return calls[place];
    }

    /** Returns the mean time of a method's calls, including the calls inside of them. */
    long meanNanos(int id) {
        int place = place(id);
        return nanos[place] / Math.max(1, calls[place]);
    }

    /** Returns the methods that were called, those with the most calls first. */
    int[] mostCalled() {
        long[] order = new long[size];
        int n = 0;
        for (int k = 0; k < keys.length; k++) {
            if (keys[k] != 0) {
                order[n++] = (long) calls[k] << 20 | AppMethodBeat.ID_MASK - keys[k];
            }
        }
        Arrays.sort(order);
        int[] ids = new int[n];
        for (int k = 0; k < n; k++) {
            ids[k] = AppMethodBeat.ID_MASK - (int) order[n - 1 - k] & AppMethodBeat.ID_MASK;
        }
        return ids;
    }

    /** Forgets the calls that were counted. The open calls stay. To be called between two calls of add. */
    void clear() {
        if (size > 0) {
            allocate(FEWEST);
        }
        total = 0;
    }
}
