package dev.tracegen.runtime;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What a thread has done with coroutines: marks, each with the number of the thread's next record. They say what the
 * records cannot: which continuation a call has, and which exits are suspensions. The thread puts them, and the sampler
 * takes them. Nothing here refers to a continuation; a mark has its identity hash code.
 *
 * <p>The records of a suspension and of a resumption have exact times: the clocks of two threads may be a period apart,
 * so a call would seem to go on before it was suspended.
 *
 * <p><b>Why a mark is there before its record.</b> The thread puts a mark and calls {@link Ring#order} before it puts
 * the record. The sampler looks which records there are, calls {@link Ring#order}, and then takes the marks. So it
 * takes the marks of all records that it copies afterwards, as it sees the changes of {@link Gate}.
 *
 * <p>A mark is put only if its record will be made: not if the method is switched off or let go, or if the thread is
 * not recorded. While a {@link Window} is open, no record has a number. Such marks are lost, and so are those for which
 * there is no memory. They are counted, and the next mark comes behind one that says how many were lost, and since
 * when.
 */
final class Marks {
    /** The kinds of marks, as trace/FORMAT.md has them. */
    static final int LOST = 0;
    static final int CONTINUES = 1;
    static final int STARTS = 2;
    static final int RESUMES = 3;
    static final int SUSPENDS = 4;

    /** The name of the constant that a suspended call returns, of Kotlin's enum {@code CoroutineSingletons}. */
    private static final String SUSPENDED = "COROUTINE_SUSPENDED";

    /** How many marks the first buffer has, and how many times more the next one. */
    private static final int FIRST = 64;
    private static final int GROWTH = 8;
    private static final int MOST = 32768;

    private static final int MARK_BYTES = 16;

    private final Rings rings;

    /** Null if there was no memory yet. The first one is used by the sampler, the last one by the thread. */
    private volatile Buffer first;
    private Buffer last;

    // How many marks were lost since the last one, and the number of the record that came next to the first of these.
    // Written by the thread, but when it makes no more.
    private volatile long lost;
    private volatile long lostNumber;

    /** Marks of two longs each: the number of a record; kind, method and hash. The thread fills it, then the next. */
    private static final class Buffer {
        final long[] marks;
        final AtomicLong put = new AtomicLong();
        final AtomicLong taken = new AtomicLong();
        volatile Buffer next;

        Buffer(int capacity) {
            marks = new long[2 * capacity];
        }

        int room() {
            return marks.length / 2 - (int) (put.get() - taken.get());
        }

        void add(long number, long mark) {
            long n = put.get();
            int at = 2 * (int) n & marks.length - 1;
            marks[at] = number;
            marks[at + 1] = mark;
            put.lazySet(n + 1);
        }

        int bytes() {
            return marks.length / 2 * MARK_BYTES;
        }
    }

    Marks(Rings rings) {
        this.rings = rings;
    }

    /** Reports whether what a suspend function returns says that it is suspended. */
    static boolean isSuspended(Enum<?> result) {
        // The constant of any class loader, and also where R8 has renamed its class.
        return SUSPENDED.equals(result.name());
    }

    /**
     * Puts a mark of the calling thread, if its record will be made.
     *
     * @param continuation null for {@link #SUSPENDS}
     */
    static void put(int kind, Object continuation, int id) {
        Recorder r = Recorder.current;
        if (r == null) {
            r = EarlyStart.begin();
        }
        // Before it is known what is to be recorded, all is.
        if (r == null || Recorder.status <= 0 || id < 1 || id >= AppMethodBeat.METHOD_ID_DISPATCH
                || !r.options().everyRecord && Recorder.status != AppMethodBeat.STATUS_READY) {
            return;
        }
        long[] letGo = AppMethodBeat.letGoExits;
        if (letGo != null && (letGo[id >>> 6] & 1L << id) != 0) {
            return;
        }
        try {
            ThreadTrace trace = r.threads.main();
            Thread thread = Thread.currentThread();
            if (trace.thread != thread) {
                trace = r.threads.current(thread);
            }
            Ring ring = trace == null ? null : trace.ring();
            if (ring == null) {
                return;
            }
            r.fastPath.applyGate(trace, ring);
            if (!leavesOut(ring, id, kind == STARTS || kind == RESUMES)) {
                if (kind == RESUMES || kind == SUSPENDS) {
                    r.ticker().updateTime(ring);
                }
                trace.marks().add(trace, ring, kind, continuation, id);
            }
        } catch (OutOfMemoryError e) {
            r.rings().memory.heapIsFull();
            r.dropped().add(Dropped.RECORDS, 1);
        }
    }

    /** Reports whether {@link Gate} would leave out the next entry of a method, or the exit of its innermost call. */
    private static boolean leavesOut(Ring ring, int id, boolean entry) {
        char[] gate = ring.gate;
        int slot = gate != null && id < gate.length ? gate[id] : 0;
        if (slot == 0 || slot >= ring.states.length) {
            return false;
        }
        int open = (int) ring.states[slot];
        int[] entered = ring.entered;
        return entry ? open != 0
                : open != 0 && open != ThreadGate.OFF || slot < entered.length && entered[slot] == 1;
    }

    private void add(ThreadTrace trace, Ring ring, int kind, Object continuation, int id) {
        long number = ring.reserve();
        Buffer b = number < 0 ? null : buffer(lost > 0 ? 2 : 1);
        if (b == null) {
            if (lost == 0) {
                lostNumber = trace.existingRing().sequence();
            }
            lost++;
            return;
        }
        if (lost > 0) {
            b.add(lostNumber, Math.min(lost, 0xFFFFFFFFL));
            lost = 0;
        }
        b.add(number, (long) kind << 52 | (long) id << 32
                | System.identityHashCode(continuation) & 0xFFFFFFFFL);
        if (b.room() == b.marks.length / 4) {
            rings.wake();
        }
        // Before the record, which a reader must not see without the mark. The ring may have been replaced.
        trace.existingRing().order();
    }

    /** Returns a buffer with room for n marks; null if there is none. */
    private Buffer buffer(int n) {
        Buffer b = last;
        if (b != null && b.room() >= n) {
            return b;
        }
        int capacity = b == null ? FIRST : Math.min(MOST, GROWTH * b.marks.length / 2);
        if (b != null && capacity == b.marks.length / 2 || !rings.takeMarks(capacity * MARK_BYTES, b == null)) {
            return null;
        }
        Buffer larger = null;
        try {
            larger = new Buffer(capacity);
        } catch (OutOfMemoryError e) {
            rings.memory.heapIsFull();
            return null;
        } finally {
            if (larger == null) {
                rings.memory.give(capacity * MARK_BYTES);
            }
        }
        last = larger;
        if (b == null) {
            first = larger;
        } else {
            b.next = larger;
        }
        return larger;
    }

    /**
     * Takes the marks that were put since the last call of this. On the sampler's thread only.
     *
     * @param last whether the thread makes no more marks
     * @return two longs for each mark; null if there are none
     */
    long[] take(boolean last) {
        long[] all = null;
        for (Buffer b = first; b != null;) {
            // Before the count: if there is a next one, nothing more comes into this one.
            Buffer next = b.next;
            all = append(all, b);
            if (next == null) {
                break;
            }
            rings.memory.give(b.bytes());
            first = next;
            b = next;
        }
        if (last && lost > 0) {
            all = all == null ? new long[2] : java.util.Arrays.copyOf(all, all.length + 2);
            all[all.length - 2] = lostNumber;
            all[all.length - 1] = Math.min(lost, 0xFFFFFFFFL);
            lost = 0;
        }
        return all;
    }

    private static long[] append(long[] all, Buffer b) {
        long from = b.taken.get();
        int n = (int) (b.put.get() - from);
        if (n == 0) {
            return all;
        }
        int had = all == null ? 0 : all.length;
        long[] more = all == null ? new long[2 * n] : java.util.Arrays.copyOf(all, had + 2 * n);
        for (int k = 0; k < 2 * n; k++) {
            more[had + k] = b.marks[(int) (2 * from + k) & b.marks.length - 1];
        }
        b.taken.set(from + n);
        return more;
    }

    /** Returns the memory to the budget. To be called once, when the thread makes no more marks and all were taken. */
    void give() {
        Buffer b = first;
        if (b != null) {
            rings.memory.give(b.bytes());
        }
    }
}
