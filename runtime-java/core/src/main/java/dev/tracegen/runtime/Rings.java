package dev.tracegen.runtime;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * What the rings of one recorder have in common: their memory, how large they may get, and what is done when one is
 * full. A ring begins small. When it is full, its owner replaces it by one that is four times as large, as long as
 * there is memory. So a thread with few calls needs few kilobytes.
 *
 * <p>A method that runs on an app's thread takes no lock, but for {@link FastPath#update} behind an
 * allocation.
 */
final class Rings {
    /** The records of a new ring: 2 KiB, so that thousands of threads fit that make few records each. */
    static final int FIRST_RECORDS = 256;

    /** How many times larger the next ring is. */
    private static final int GROWTH = 4;

    private static final int RECORD_BYTES = 8;

    // How much of the budget may be in use when memory is taken for a ring: five eighths, and three for the growth of a
    // ring that is not the main thread's, so that there is memory for the first rings of other threads. The rest is for
    // what waits for the writer and the delivery, see MemoryBudget.queueBytes.
    private static final int EIGHTHS = 8;
    private static final int RINGS_EIGHTHS = 5;
    private static final int GROWTH_EIGHTHS = 3;

    /** A call that takes so long is recorded even in a window, or one that takes a quarter of the slow threshold. */
    private static final int LONG_CALL_MILLIS = 20;

    /** About what a thread needs besides its ring, with what the sampler has of it. */
    private static final long TRACE_BYTES = 2048;

    /** After so many new threads the sampler is woken: as many may have ended. */
    private static final int MANY_THREADS = 16;

    /** Whether a full ring overwrites its oldest records, because only those of stalls are written; else a window. */
    volatile boolean overwrite = true;

    /** A call that takes so many ticks is kept in a window. */
    volatile long longTicks = Long.MAX_VALUE;

    /** Switches off what floods; null if nothing is to be. */
    volatile Flood flood;

    final MemoryBudget memory;

    /** The greatest number of records in the ring of the main thread, and of another one. */
    private volatile int mostMain;
    private volatile int most;

    /** Null in tests of a ring alone. */
    private final Recorder recorder;

    private final AtomicInteger newThreads = new AtomicInteger();

    /** Whether the sampler was woken and has not begun to check all threads since. */
    private volatile boolean woken;

    /**
     * Creates rings for a recorder.
     *
     * @param recorder null for none
     */
    Rings(Recorder recorder, MemoryBudget memory, int mostRecords) {
        this.recorder = recorder;
        this.memory = memory;
        this.mostMain = mostRecords;
        this.most = mostRecords;
    }

    /** Sets the limits by options. Rings that are larger than they may get now stay. */
    void use(RecorderOptions o) {
        mostMain = o.ringRecords;
        most = o.threadRingRecords;
        memory.resize(MemoryBudget.bytes(o));
        longTicks = Math.max(1, Math.min(LONG_CALL_MILLIS, o.slowMillis / 4) * 1000000L / o.tickNanos);
        overwrite = !o.everyRecord;
        flood = recorder != null && o.gate && o.everyRecord ? new Flood(recorder) : null;
    }

    private static long bytes(int records) {
        return (long) records * RECORD_BYTES;
    }

    /**
     * Takes the memory of a thread's objects.
     *
     * @return false if there is none: the thread cannot be recorded now
     */
    boolean takeThread() {
        if (newThreads.incrementAndGet() >= MANY_THREADS) {
            wakeOnce();
        }
        if (memory.takeBelow(TRACE_BYTES, memory.bytes() / EIGHTHS * RINGS_EIGHTHS)) {
            return true;
        }
        wakeOnce();
        return false;
    }

    /** Takes the memory of a thread's objects that are made in any case. */
    void takeThreadAlways() {
        memory.takeAlways(TRACE_BYTES);
    }

    /** Takes memory for marks of a thread, the first ones or more. Returns false if there is none. */
    boolean takeMarks(long bytes, boolean first) {
        return memory.takeBelow(bytes, memory.bytes() / EIGHTHS * (first ? RINGS_EIGHTHS : GROWTH_EIGHTHS));
    }

    /** Returns to the budget what a thread took. To be called once, when its ring is not used any more. */
    void giveThread(Ring ring) {
        memory.give(TRACE_BYTES);
        giveRing(ring);
    }

    /** Returns the memory of a ring to the budget. */
    void giveRing(Ring ring) {
        if (ring != null) {
            memory.give(bytes(ring.length()));
        }
    }

    /**
     * Returns the first ring of a thread. To be called on that thread.
     *
     * @param first the number of its first record: how many were dropped before it
     * @return null if there is no memory
     */
    Ring first(ThreadTrace trace, long first) {
        int records = Math.min(FIRST_RECORDS, trace.main ? mostMain : most);
        if (trace.main) {
            memory.takeAlways(bytes(records));
        } else if (!memory.takeBelow(bytes(records), memory.bytes() / EIGHTHS * RINGS_EIGHTHS)) {
            wakeOnce();
            return null;
        }
        boolean done = false;
        try {
            Ring ring = new Ring(this, trace, records, first);
            recorder.ticker().updateTime(ring);
            done = true;
            return ring;
        } catch (OutOfMemoryError e) {
            memory.heapIsFull();
            return null;
        } finally {
            if (!done) {
                memory.give(bytes(records));
            }
        }
    }

    /**
     * Returns a larger ring with the records of one that is full; null if it must not grow or if there is no memory. It
     * is four times as large, or twice if there is not enough memory. What it needs more than the full one is taken.
     */
    Ring larger(Ring full) {
        boolean main = full.trace == null || full.trace.main;
        long limit = memory.bytes() / EIGHTHS * (main ? RINGS_EIGHTHS : GROWTH_EIGHTHS);
        int records = (int) Math.min(main ? mostMain : most, (long) GROWTH * full.length());
        while (records > full.length() && !memory.takeBelow(bytes(records) - bytes(full.length()), limit)) {
            records /= 2;
        }
        if (records <= full.length()) {
            return null;
        }
        Ring ring = null;
        try {
            ring = new Ring(full, records);
        } catch (OutOfMemoryError e) {
            memory.heapIsFull();
        } finally {
            if (ring == null) {
                memory.give(bytes(records) - bytes(full.length()));
            }
        }
        return ring;
    }

    /** Returns to the budget what {@link #larger} took for a ring that is not used. */
    void giveUnused(Ring ring, Ring full) {
        memory.give(bytes(ring.length()) - bytes(full.length()));
    }

    /** Completes that a ring was replaced: the new one gets the exact time and the fast path. May be repeated. */
    void replaced(Ring next) {
        if (recorder != null) {
            recorder.ticker().updateTime(next);
            if (next.trace.main) {
                recorder.fastPath.update();
            }
        }
    }

    /** Wakes the sampler, because a ring is getting full. */
    void wake() {
        if (recorder != null) {
            recorder.wakeSampler();
        }
    }

    /** Wakes the sampler to release what threads had that have ended, once until it does so. */
    private void wakeOnce() {
        if (woken) {
            return;
        }
        // Before the call: the sampler may begin at once and clear it.
        woken = true;
        boolean done = false;
        try {
            wake();
            done = true;
        } finally {
            if (!done) {
                woken = false;
            }
        }
    }

    /** To be called by the sampler before it looks at all threads. */
    void checking() {
        newThreads.set(0);
        woken = false;
    }
}
