package dev.tracegen.runtime;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts what the recorder did not write or deliver, by kind. Any thread may add. The writer takes the counts and
 * writes them in DROPPED chunks.
 */
final class Dropped {
    /** Records of threads for which there was no memory. */
    static final int RECORDS = 1;
    static final int SAMPLES = 2;
    static final int STALLS = 3;
    static final int FRAMES = 4;
    static final int DELIVERIES = 5;
    static final int SIGNS = 6;
    static final int CHUNKS = 7;
    static final int INCIDENTS = 8;

    /** Virtual threads that made calls and are not recorded, by choice. */
    static final int VIRTUAL_THREADS = 9;

    /** The names of the kinds, for the log; null for what is left out by choice. trace/FORMAT.md has the kinds. */
    private static final String[] NAMES = {null, "records", "stack samples", "stalls", "frames",
        "calls of the stall listener", "signs of life", "chunks", "incidents", null};

    private final AtomicLongArray counts = new AtomicLongArray(NAMES.length);
    private final AtomicLongArray totals = new AtomicLongArray(NAMES.length);

    void add(int kind, long n) {
        if (n > 0) {
            counts.addAndGet(kind, n);
            totals.addAndGet(kind, n);
        }
    }

    /** Returns the counts since the last call, the kind is the index; null if there are none. */
    long[] take() {
        boolean any = false;
        for (int kind = 0; kind < NAMES.length; kind++) {
            any |= counts.get(kind) > 0;
        }
        long[] taken = any ? new long[NAMES.length] : null;
        for (int kind = 0; any && kind < NAMES.length; kind++) {
            taken[kind] = counts.getAndSet(kind, 0);
        }
        return taken;
    }

    /** Adds counts again that {@link #take} has returned, because they could not be written. */
    void putBack(long[] taken) {
        for (int kind = 0; kind < NAMES.length; kind++) {
            counts.addAndGet(kind, taken[kind]);
        }
    }

    /** Returns the counts as text for the log; null if nothing was dropped but by choice. */
    String text() {
        StringBuilder b = new StringBuilder();
        for (int kind = 0; kind < NAMES.length; kind++) {
            if (totals.get(kind) > 0 && NAMES[kind] != null) {
                b.append(b.length() == 0 ? "" : ", ").append(totals.get(kind)).append(' ').append(NAMES[kind]);
            }
        }
        return b.length() == 0 ? null : b.toString();
    }
}
