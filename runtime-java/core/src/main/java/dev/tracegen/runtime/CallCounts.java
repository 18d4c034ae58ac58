package dev.tracegen.runtime;

import java.util.Arrays;
import java.util.Comparator;

/**
 * Counts the calls of each method and the time that they take, in the records that the recorder copies. A method that
 * calls itself counts its time once. Used by the sampler only.
 */
final class CallCounts {
    /** Calls that are nested deeper are counted, but not their time. */
    private static final int MAX_DEPTH = 1 << 14;

    private int[] calls = new int[1024];
    private long[] nanos = new long[1024];

    /** How many calls of each method are open on the thread whose records are added; 0 between two calls of add. */
    private int[] open = new int[1024];
    private long total;

    /** Whether something was counted. A sampler with little time must not clear arrays for nothing. */
    private boolean changed;

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
            open[of.ids[k]]++;
        }
        changed |= copy.records.length > 0;
        for (long r : copy.records) {
            int id = (int) (r >>> Ring.ID_SHIFT) & 0xFFFFF;
            long time = (r & Ring.TIME_MASK) * tickNanos - of.skipped;
            if (id >= calls.length) {
                calls = Arrays.copyOf(calls, id + 1 + id / 4);
                nanos = Arrays.copyOf(nanos, calls.length);
                open = Arrays.copyOf(open, calls.length);
            }
            if (r < 0) {
                enter(of, id, time);
            } else if (of.beyond > 0) {
                of.beyond--;
            } else if (open[id] > 0) {
                exit(of, id, time);
            }
        }
        for (int k = 0; k < of.depth; k++) {
            open[of.ids[k]] = 0;
        }
    }

    private void enter(Open of, int id, long time) {
        calls[id]++;
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
        open[id]++;
    }

    /** Ends the innermost call of a method and the calls inside of it. */
    private void exit(Open of, int id, long time) {
        int ended;
        do {
            of.depth--;
            ended = of.ids[of.depth];
            if (--open[ended] == 0) {
                nanos[ended] += Math.max(0, time - of.begins[of.depth]);
            }
        } while (ended != id);
    }

    long total() {
        return total;
    }

    int calls(int id) {
        return calls[id];
    }

    /** Returns the mean time of a method's calls, including the calls inside of them. */
    long meanNanos(int id) {
        return nanos[id] / Math.max(1, calls[id]);
    }

    /** Returns the methods that were called, those with the most calls first. */
    int[] mostCalled() {
        int n = 0;
        for (int c : calls) {
            n += c > 0 ? 1 : 0;
        }
        Integer[] ids = new Integer[n];
        n = 0;
        for (int id = 0; id < calls.length; id++) {
            if (calls[id] > 0) {
                ids[n++] = id;
            }
        }
        Arrays.sort(ids, new Comparator<Integer>() {
            @Override
            public int compare(Integer a, Integer b) {
                return Integer.compare(calls[b], calls[a]);
            }
        });
        int[] sorted = new int[n];
        for (int k = 0; k < n; k++) {
            sorted[k] = ids[k];
        }
        return sorted;
    }

    /** Forgets the calls that were counted. The open calls stay. */
    void clear() {
        if (changed) {
            Arrays.fill(calls, 0);
            Arrays.fill(nanos, 0);
        }
        changed = false;
        total = 0;
    }
}
