package dev.tracegen.runtime;

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

    private static final int MARK_BYTES = 16;

    /** How many marks are kept of a thread if records are written only of stalls: of the last records. */
    private static final int KEPT = 4096;

    private final Rings rings;

    /** Two numbers for each mark: that of a record; kind, method and hash. */
    private final PairBuffers pairs;

    /** How many marks were put or lost. Not volatile: other threads may see an older number. */
    private int made;

    /** How many of these {@link #uncounted} has returned. Used by the thread. */
    private int counted;

    // How many marks were lost since the last one, and the number of the record that came next to the first of these.
    // Written by the thread, but when it makes no more.
    private volatile long lost;
    private volatile long lostNumber;

    // The last marks if records are written only of stalls, from place keptCount on; how many there were; and the
    // number of a record before which some are missing. Used under the lock of this object.
    private long[] kept;
    private long keptCount;
    private long keptLost;

    Marks(Rings rings) {
        this.rings = rings;
        pairs = new PairBuffers(rings);
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
        if (r == null || Recorder.status <= 0 || id < 1 || id >= AppMethodBeat.METHOD_ID_DISPATCH) {
            return;
        }
        if (LetGo.has(id)) {
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
        made++;
        long number = ring.reserve();
        if (number < 0 || !pairs.hasRoom(lost > 0 ? 2 : 1)) {
            if (lost == 0) {
                lostNumber = trace.existingRing().sequence();
            }
            lost++;
            return;
        }
        if (lost > 0) {
            pairs.set(0, lostNumber, Math.min(lost, 0xFFFFFFFFL));
            pairs.put(1);
            lost = 0;
        }
        pairs.set(0, number, (long) kind << 52 | (long) id << 32
                | System.identityHashCode(continuation) & 0xFFFFFFFFL);
        pairs.put(1);
        // Before the record, which a reader must not see without the mark. The ring may have been replaced.
        trace.existingRing().order();
    }

    /** Returns how many marks a thread has made, as far as the calling thread sees them. */
    static int made(ThreadTrace trace) {
        Marks m = trace == null ? null : trace.existingMarks();
        return m == null ? 0 : m.made;
    }

    /** Returns how many marks a thread has made since the last call of this. On the thread only. */
    static int uncounted(ThreadTrace trace) {
        Marks m = trace == null ? null : trace.existingMarks();
        int n = m == null ? 0 : m.made - m.counted;
        if (n > 0) {
            m.counted += n;
        }
        return n;
    }

    /**
     * Takes the marks that were put since the last call of this. On the sampler's thread only.
     *
     * @param last whether the thread makes no more marks
     * @return two longs for each mark; null if there are none
     */
    long[] take(boolean last) {
        long[] all = pairs.take();
        if (last && lost > 0) {
            all = all == null ? new long[2] : java.util.Arrays.copyOf(all, all.length + 2);
            all[all.length - 2] = lostNumber;
            all[all.length - 1] = Math.min(lost, 0xFFFFFFFFL);
            lost = 0;
        }
        return all;
    }

    /**
     * Takes the marks and keeps the last ones, for a stall whose records may be written later. On the sampler's thread
     * only.
     */
    void keep() {
        long[] marks = take(false);
        if (marks == null) {
            return;
        }
        synchronized (this) {
            if (kept == null) {
                if (!rings.takeMarks(KEPT * MARK_BYTES, false)) {
                    keptLost = marks[marks.length - 2] + 1;
                    return;
                }
                kept = new long[2 * KEPT];
            }
            for (int k = 0; k < marks.length; k += 2, keptCount++) {
                int at = 2 * (int) keptCount & kept.length - 1;
                if (keptCount >= KEPT) {
                    keptLost = kept[at] + 1;
                }
                kept[at] = marks[k];
                kept[at + 1] = marks[k + 1];
            }
        }
    }

    /**
     * Returns the kept marks of records, behind one that says if some are missing. How many are is not known: it says
     * one.
     *
     * @return as {@link #take}
     */
    synchronized long[] kept(long from, long to) {
        long[] all = new long[2 * (int) Math.min(keptCount, KEPT) + 4];
        int n = 0;
        if (from < keptLost && from < to) {
            all[n++] = from;
            all[n++] = 1;
        }
        for (long k = Math.max(0, keptCount - KEPT); k < keptCount; k++) {
            int at = 2 * (int) k & kept.length - 1;
            if (kept[at] >= from && kept[at] < to) {
                all[n++] = kept[at];
                all[n++] = kept[at + 1];
            }
        }
        long now = lost;
        if (now > 0 && lostNumber >= from && lostNumber < to) {
            all[n++] = lostNumber;
            all[n++] = Math.min(now, 0xFFFFFFFFL);
        }
        return n == 0 ? null : java.util.Arrays.copyOf(all, n);
    }

    /** Returns the memory to the budget. To be called once, when the thread makes no more marks and all were taken. */
    void give() {
        pairs.give();
        if (kept != null) {
            rings.memory.give(KEPT * MARK_BYTES);
        }
    }
}
