package dev.tracegen.runtime;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * The last records of one thread. Only that thread writes them; any thread may copy them.
 *
 * <p>Records are numbered from 0 by a 64-bit sequence. Record n is in slot n modulo capacity. A slot holds the record
 * plus {@link #FULL}, so that neither half of it is 0: an ID is not 0, and {@link #advance} leaves a time out.
 *
 * <p><b>How a record is put.</b> By two plain stores, of its slot and of {@link #next}. {@link AppMethodBeat} has them
 * in its own code: a call costs an interpreter as much as ten instructions, a release store by way of an updater as
 * much as a hundred. What other threads need is done by {@link #prepare}, before the record whose number is
 * {@link #stop}. It
 * <ol>
 * <li>claims slots, once a segment: it raises {@link #claimed} by an atomic read-modify-write. Those of the first lap
 * are claimed from the begin;
 * <li>sets the slots up to the next stop to 0, if they are not since the ring was made;
 * <li>moves {@link #sequence} up to here by a volatile store.
 * </ol>
 *
 * <p><b>Why a copy is correct.</b> A reader loads {@link #sequence}, s, then {@link #next}, which may be old, and slots
 * up to there, but not behind the stop that follows s. Then it reads {@link #claimed} by a read-modify-write that
 * changes nothing.
 * <ul>
 * <li>All records below s happen before the store of s, so the reader sees them, or what came later.
 * <li>So do the zeros from s up to the next stop. A slot there holds 0 or the record of this lap, or what came later.
 * The reader ends at the first slot that is not complete. A plain store of a long may be seen by halves: a slot is
 * complete if neither half is 0. As each half changes only once from 0 in a lap, both are those of the record then. The
 * order in which the stores are seen does not matter.
 * <li>What came later is found by {@link #claimed}. Read-modify-writes of one field have one order, and each happens
 * before the next. If that of the reader comes before the claim of a slot, its loads happen before all stores behind
 * that claim and cannot see them. Otherwise it returns that claim or a later one. So record k of a copy is the right
 * one if {@link #claimed}, read after the copy, is at most k+capacity. All others are dropped and counted.
 * <li>{@link #order} orders by the same field what the owner writes between two records.
 * </ul>
 * The memory model does not say how soon a store is seen, of these as of all others. Processors do not keep it back.
 *
 * <p><b>A full ring.</b> The ring is divided into segments. Before the owner puts the first record of a segment, and
 * only then, it checks that the segment is free. If it is not, the owner replaces the ring by a larger one. If that is
 * not possible, the oldest records are overwritten if only those of stalls are written; if all are, a
 * {@link Window} is opened. While a window is open the sequence does not move. It stays at the begin of a segment, so
 * each call of {@link #put} gets to the same check and is added to the window there. The sampler closes the
 * window when it has copied the ring: it puts the records of the window behind the last one.
 *
 * <p>That is the one time that another thread than the owner puts records, and both do so under {@link #locked}. It is
 * correct because the owner takes the lock whenever {@link #next} is at the begin of a segment. The other thread claims
 * the slots as the owner does, stores them, and then moves the sequence in one step. It does not touch {@link #next}:
 * the owner finds the sequence ahead of it, which is that behind the window, and goes on there.
 *
 * <p><b>Growth.</b> The owner replaces a ring between two records, when the sequence is at the begin of a segment and
 * no window is open. It allocates the new ring without a lock, copies the records that the old one holds, the sequence
 * and all fields of the owner, and then publishes the new one: first in {@link ThreadTrace}, then as the
 * {@link #successor} of the old one.
 * <ul>
 * <li>A reader of the old ring is right: its slots and its sequence do not change any more. They show what the thread
 * had put when it was replaced, and a copy of them is right by the proof above. What follows is in the new ring, under
 * the numbers that follow.
 * <li>A reader of the new ring is right: it is published behind the stores of all its slots and of its sequence. It
 * holds no record below {@link #oldest}, so a copy leaves these out and counts them. All others have the same number
 * as in the old ring, and the proof above is of the new one.
 * <li>A window is never lost: only the owner opens one, and it does not replace a ring with an open window. Without
 * one {@link #closeWindow} changes nothing.
 * <li>No record is put into the old ring: {@link #next} stays at the begin of a segment. So each call of {@link #put}
 * gets to the check, which puts the record into the successor. That holds also for an owner that was interrupted by a
 * StackOverflowError between two steps, and that call repairs what is missing.
 * <li>The time does not stop: the thread of the clock may have updated the old ring only, if it found that before the
 * new one was published. The owner reads the clock behind that, before the next record.
 * <li>{@link #copied} may be too low in the new ring, if the sampler has just set that of the old one. Then
 * the new ring seems fuller than it is. The sampler sets it each time it looks for records of the thread.
 * </ul>
 *
 * <p><b>The gate.</b> {@link Gate} explains the fields {@link #gate} and {@link #states}. Only the owner writes them.
 */
final class Ring {
    /** Bit 63 of a record, set for an entry. */
    static final long ENTRY = 1L << 63;

    /** The position of the ID in a record. */
    static final int ID_SHIFT = 43;

    /** The bits of the time in a record. */
    static final long TIME_MASK = (1L << ID_SHIFT) - 1;

    // The fields are found by name. The R8 rules in META-INF/proguard keep these names.
    private static final AtomicLongFieldUpdater<Ring> CLAIMED =
            AtomicLongFieldUpdater.newUpdater(Ring.class, "claimed");
    private static final AtomicIntegerFieldUpdater<Ring> LOCKED =
            AtomicIntegerFieldUpdater.newUpdater(Ring.class, "locked");
    private static final AtomicLongFieldUpdater<Ring> NOW = AtomicLongFieldUpdater.newUpdater(Ring.class, "now");

    /** The least length of a segment. The least ring has four. */
    static final int SEGMENT = 64;

    /** No segment is longer: by then what is done once a segment costs next to nothing for a record. */
    private static final int MOST_SEGMENT = 2048;

    /** A larger ring does not stay in the caches of a processor, so many slots at once would be slow to set to 0. */
    private static final int CACHED = 1 << 15;

    /** How many slots of such a ring are set to 0 at once. */
    private static final int STEP = 128;

    private static final long[] NO_STATES = new long[0];
    private static final int[] NO_ENTERED = new int[0];

    /** Added to a record in its slot. */
    static final long FULL = (1L << 32) + 1;

    /**
     * For each method ID the slot in {@link #states}; 0 if the method was never switched off. Null as long as no
     * method was: a check for null costs the calls less than one of the length. Written by the owner.
     */
    char[] gate;

    /** No ID from here on has a slot: the length of {@link #gate}, and 1 without one, as no ID is below. */
    int gateEnd = 1;

    /** For each slot of the gate the state of its method on this thread, see {@link Gate}. Written by the owner. */
    volatile long[] states = NO_STATES;

    /**
     * For each slot of a method that was ever let go, 1 more than how many recorded calls are open that were entered
     * since it has come back; 0 for others. See {@link Gate}. Written by the owner.
     */
    int[] entered = NO_ENTERED;

    /** The last request that the owner has carried out. */
    volatile Gate.Request applied;

    /** The last change of the gate on this thread; each refers to the one before. Written by the owner. */
    volatile Gate.Change lastChange;

    /** What {@link Flood} notes of the calls; null for nothing. Used by the owner. */
    Flood.Noted noted;

    /** What the rings of a recorder have in common; null for a placeholder. */
    final Rings rings;

    /** Where a larger ring is published; null in tests of a ring alone. */
    final ThreadTrace trace;

    /** The thread that the records are of. */
    final Thread owner;

    /** The larger ring that has replaced this one, null if none has. Written by the owner. */
    private volatile Ring successor;

    /** The number of the first record that may be in the ring. */
    private volatile long oldest;

    /** The ring is not replaced before it has so many records, because there was no memory. Used by the owner. */
    private long nextGrowth;

    /** The records, each with {@link #FULL} added; 0 for one that was not put yet. */
    final long[] slots;

    /** The lower half of the number of the next record. Written by the owner. */
    int next;

    /** The value of {@link #next} at which {@link #prepare} must be called; the same in a placeholder. As it is. */
    int stop;

    /** The length of a segment less 1. */
    private final int segmentMask;

    /** The number of slots that are set to 0 at once, less 1. */
    private final int stepMask;

    /** The end of the first lap. All slots were 0 when the ring was made. */
    private long fresh;

    /** All records below this number can be seen, and the slots behind it are prepared. */
    volatile long sequence;

    /** No slot was changed for a record with this number or a greater one. */
    private volatile long claimed;

    /** The time that a record gets now, in ticks. */
    volatile long now;

    /** The number of the next record that the sampler will copy. Written by that thread. */
    private volatile long copied;

    /** 1 while a thread holds the lock. */
    private volatile int locked;

    /** The window, open or closed; null in a placeholder. Used under the lock. */
    private final Window window;

    /**
     * Creates an empty ring.
     *
     * @param trace the thread that alone may put records
     * @param capacity number of records, a power of two
     * @param first the number of the first record
     */
    Ring(Rings rings, ThreadTrace trace, int capacity, long first) {
        this(rings, trace, trace.thread, capacity);
        oldest = first;
        copied = first;
        startAt(first);
    }

    /** Creates an empty ring that stands alone. */
    Ring(Rings rings, Thread owner, int capacity) {
        this(rings, null, owner, capacity);
    }

    private Ring(Rings rings, ThreadTrace trace, Thread owner, int capacity) {
        this.slots = new long[capacity];
        this.segmentMask = Math.max(SEGMENT, Math.min(MOST_SEGMENT, capacity / 16)) - 1;
        this.stepMask = capacity > CACHED ? STEP - 1 : segmentMask;
        this.rings = rings;
        this.trace = trace;
        this.owner = owner;
        this.window = rings == null ? null : new Window(rings.memory);
        this.fresh = capacity;
        this.claimed = capacity;
    }

    /** Creates a larger ring with the content of another one. To be called by the owner, while no window is open. */
    Ring(Ring full, int capacity) {
        this(full.rings, full.trace, full.owner, capacity);
        long end = full.sequence();
        long first = full.oldest();
        for (long n = first; n < end; n++) {
            slots[(int) n & capacity - 1] = full.slots[(int) n & full.length() - 1];
        }
        oldest = first;
        copied = full.copied;
        now = full.now;
        gate = full.gate;
        gateEnd = full.gateEnd;
        entered = full.entered;
        states = full.states;
        applied = full.applied;
        lastChange = full.lastChange;
        startAt(end);
    }

    private void startAt(long number) {
        next = (int) number;
        stop = next;
        fresh = oldest + length();
        claimed = fresh;
        sequence = number;
    }

    /** Returns the end of the segment that has a record. */
    private long segmentEnd(long number) {
        return (number | segmentMask) + 1;
    }

    /** Returns up to where the slots are prepared when records can be seen up to a number. */
    private long stop(long number) {
        long end = segmentEnd(number);
        return end <= fresh ? end : (number | stepMask) + 1;
    }

    /** Returns how many records fit. */
    int length() {
        return slots.length;
    }

    /**
     * Returns a ring for which {@link #rings} is null. It stands for the real ring while the fast path is off; nothing
     * is put into it.
     */
    static Ring placeholder(Thread owner) {
        return new Ring(null, owner, 1);
    }

    /** Moves the time forward. Any thread may call it; the time never goes back. */
    void advance(long ticks) {
        // The lower half of such a record would be 0 in its slot.
        long to = (int) ticks == -1 ? ticks - 1 : ticks;
        for (;;) {
            long n = now;
            if (to <= n || NOW.compareAndSet(this, n, to)) {
                return;
            }
        }
    }

    /** Puts a record behind the last one, or into the open window. Only the owner may call it. */
    void put(long record) {
        if (next == stop && !prepare(record)) {
            return;
        }
        int n = next;
        // Not a mask from a field: in this form the compiler can drop the bounds check.
        slots[n & slots.length - 1] = record + FULL;
        next = n + 1;
    }

    /**
     * Reports whether the next slots may be written to. If not, the record was put into a larger ring or added to the
     * window.
     */
    private boolean prepare(long record) {
        Ring larger = successor;
        if (larger != null) {
            rings.replaced(larger);
            larger.put(record);
            return false;
        }
        long end = sequence();
        if (((int) end & segmentMask) == 0) {
            boolean overwrite = rings.overwrite;
            if (overwrite) {
                larger = segmentEnd(end) - oldest <= length() ? null : grow();
            } else if (segmentEnd(end) - copied >= length() && !hasWindow()) {
                larger = grow();
            }
            if (larger != null) {
                larger.put(record);
                return false;
            }
            Flood flood = rings.flood;
            if (!overwrite && !mayWrite(record)) {
                if (flood != null) {
                    flood.leftOut(this, record);
                }
                return false;
            }
            // A window may have been closed meanwhile.
            end = sequence();
            if (flood != null) {
                flood.put(this, segmentMask + 1);
            }
        }
        show(end);
        // Last: a StackOverflowError above does no harm, because the next call repeats all.
        stop = (int) stop(end);
        next = (int) end;
        return true;
    }

    /** Lets others see the records up to a number, and prepares the slots behind it. Of the owner or under the lock. */
    private void show(long number) {
        claim(segmentEnd(number));
        long end = stop(number);
        if (end > fresh) {
            long[] all = slots;
            int last = (int) (end - 1) & all.length - 1;
            for (int k = (int) number & all.length - 1; k <= last; k++) {
                all[k] = 0;
            }
        }
        sequence = number;
    }

    private void claim(long end) {
        long before = claimed;
        // It cannot fail: other threads write the same value.
        if (end > before) {
            CLAIMED.compareAndSet(this, before, end);
        }
    }

    /**
     * Orders two threads: the owner calls this between two records, another thread behind its load of what the owner
     * wrote later. Then that thread sees all that was written before the owner's call. Returns {@link #claimed}.
     */
    long order() {
        return CLAIMED.getAndAdd(this, 0);
    }

    /**
     * Returns the number that the next record will have; -1 if that is not known, because it may come into a window.
     * Makes room for it. Only the owner may call it.
     */
    long reserve() {
        long end = sequence();
        if (next != stop || ((int) end & segmentMask) != 0 || rings.overwrite) {
            return end;
        }
        Ring larger = successor;
        if (larger == null && segmentEnd(end) - copied >= length() && !hasWindow()) {
            larger = grow();
        }
        if (larger != null) {
            return larger.reserve();
        }
        lock();
        try {
            // Again: a window may have been closed meanwhile.
            end = sequence();
            return window.isOpen() || ((int) end & segmentMask) == 0 && end - copied + segmentMask + 1 >= length()
                    ? -1 : end;
        } finally {
            locked = 0;
        }
    }

    private boolean mayWrite(long record) {
        lock();
        try {
            long used = sequence() - copied;
            if (!window.isOpen() && used + segmentMask + 1 < length()) {
                if (used > length() / 2) {
                    rings.wake();
                }
                return true;
            }
            boolean opens = !window.isOpen();
            if (opens) {
                window.open(record & TIME_MASK, rings.longTicks);
            }
            window.add(record);
            if (opens) {
                rings.wake();
            }
            return false;
        } finally {
            locked = 0;
        }
    }

    /** Reports whether the window is open. May be called without the lock: then it may be an older answer. */
    boolean windowIsOpen() {
        return window != null && window.isOpen();
    }

    private boolean hasWindow() {
        lock();
        boolean open = window.isOpen();
        locked = 0;
        return open;
    }

    /**
     * Replaces this ring by a larger one. If there is no memory, it is not tried again before as many records were put
     * as the ring has.
     *
     * @return null if that is not possible
     */
    private Ring grow() {
        if (sequence() < nextGrowth) {
            return null;
        }
        Ring larger = rings.larger(this);
        if (larger == null) {
            nextGrowth = sequence() + length();
            return null;
        }
        boolean published = false;
        try {
            // Not if the ring was released meanwhile.
            published = trace == null || trace.replaceRing(this, larger);
        } finally {
            if (!published) {
                rings.giveUnused(larger, this);
            }
        }
        if (!published) {
            return null;
        }
        successor = larger;
        try {
            rings.replaced(larger);
        } catch (Throwable e) {
            // No stack is left. The thread of the clock does the rest in its next period.
        }
        return larger;
    }

    private void lock() {
        while (!LOCKED.compareAndSet(this, 0, 1)) {
            Thread.yield();
        }
    }

    /**
     * Sets up to where records were copied. On the sampler's thread only.
     *
     * @param number the number of the next record to copy
     */
    void copied(long number) {
        if (number > copied) {
            copied = number;
        }
    }

    /** Returns the number of the first record that may be in the ring. The records before it are lost. */
    long oldest() {
        return Math.max(oldest, claimed - length());
    }

    /** Returns the number of the next record that will be copied. */
    long copied() {
        return copied;
    }

    /**
     * Closes the open window, if all records were copied: puts its records behind the last one. On the
     * sampler's thread only.
     *
     * @param wait whether to wait for the owner if it uses the window now. Where many threads run, an owner that lost
     *             its processor in the window gets it back late, and the sampler would see to no other thread meanwhile
     * @return the window that was closed, or a part of it if it has more records than the ring; null if none was open,
     *         or if the owner uses it
     */
    Window.Closed closeWindow(boolean wait) {
        if (wait) {
            lock();
        } else if (!LOCKED.compareAndSet(this, 0, 1)) {
            return null;
        }
        try {
            long first = sequence();
            if (!window.isOpen() || first != copied) {
                return null;
            }
            int most = length() - segmentMask - 1;
            // The rest stays in the window. The sequence must then stay at the begin of a segment.
            int n = Math.min(window.size(), most);
            long lost = window.lost();
            long end = first + lost + n;
            claim(segmentEnd(end));
            for (int k = 0; k < n; k++) {
                slots[(int) (first + lost + k) & length() - 1] = window.record(k) + FULL;
            }
            if (lost > 0) {
                // Before the sequence: a reader that loads the new sequence must see that these records are missing.
                oldest = first + lost;
            }
            Window.Closed closed = window.take(first + lost, n, now);
            show(end);
            return closed;
        } finally {
            locked = 0;
        }
    }

    /** Returns about how many calls the open window has left out. Any thread may call it. */
    long leftOut() {
        return window == null ? 0 : window.leftOut();
    }

    /** Returns how many records were put in total: the number of the next one. Others may be late to see it. */
    long sequence() {
        return end(sequence);
    }

    /** Returns what {@link #sequence()} returns if {@link #sequence} has a value. */
    long end(long begun) {
        // The difference is below 0 behind a window that was closed, and if another thread sees an old value.
        return begun + Math.max(0, Math.min(stop(begun) - begun, next - (int) begun));
    }

    /** Copies the records from one number up to another, excluding that, as far as they are still in the ring. */
    RecordCopy copy(long from, long to) {
        return RecordCopy.of(this, from, to);
    }
}
