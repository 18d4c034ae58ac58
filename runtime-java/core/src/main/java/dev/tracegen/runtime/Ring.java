package dev.tracegen.runtime;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * The last records of one thread. Only that thread writes them; any thread may copy them.
 *
 * <p>Records are numbered from 0 by a 64-bit sequence. Record n is in slot n modulo capacity.
 *
 * <p><b>Why a copy is correct.</b> The owner puts record n with two release stores: first the slot, then the sequence
 * n+1. A reader uses volatile loads. The methods are {@code lazySet} and {@code get}; Java 9 calls them
 * {@code setRelease} and {@code getVolatile}.
 * <ul>
 * <li>A reader that loads the sequence s sees the records below s, or records that have overwritten them: the store
 * to the slot comes before the store to the sequence, which is a release.
 * <li>Assume that a reader wants record k and loads from its slot record k+capacity or a later one. The owner stored
 * the sequence k+capacity before that, and a release store does not move up before an earlier store. The load of the
 * slot reads from a release store, so a load of the sequence that follows returns at least k+capacity. Therefore
 * record k of a copy is the right one if the sequence, loaded <i>after</i> the copy, is below k+capacity. All other
 * records are dropped and counted.
 * <li>No long is torn, because all loads and stores are volatile or ordered.
 * </ul>
 * Plain stores would be wrong: a plain store may move up before an earlier release of the sequence, and the plain
 * loads of a reader may move down past its last load of the sequence. They would not be faster either: a release
 * store is a plain {@code mov} on x86 and one {@code stlr} on 64-bit ARM.
 *
 * <p><b>A full ring.</b> The ring is divided into segments. Before the owner puts the first record of a segment, and
 * only then, it checks that the segment is free. If it is not, the owner replaces the ring by a larger one. If that is
 * not possible, the oldest records are overwritten if only those of stalls are written; if all are, a
 * {@link Window} is opened. While a window is open the sequence does not move. It stays at the begin of a segment, so
 * each call of {@link #put} gets to the same check and is added to the window there. The sampler closes the
 * window when it has copied the ring: it puts the records of the window behind the last one.
 *
 * <p>That is the one time that another thread than the owner puts records, and both do so under {@link #locked}. It is
 * correct because the owner takes the lock whenever the sequence is at the begin of a segment, and the other thread
 * first stores the slots and then moves the sequence in one step. So an owner that reads another sequence reads one
 * from before the window or from behind it.
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
 * <li>No record is put into the old ring: its sequence stays at the begin of a segment. So each call of {@link #put}
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
final class Ring extends AtomicLongArray {
    private static final long serialVersionUID = 1;

    /** Bit 63 of a record, set for an entry. */
    static final long ENTRY = 1L << 63;

    /** The position of the ID in a record. */
    static final int ID_SHIFT = 43;

    /** The bits of the time in a record. */
    static final long TIME_MASK = (1L << ID_SHIFT) - 1;

    // The fields are found by name. The R8 rules in META-INF/proguard keep these names.
    private static final AtomicLongFieldUpdater<Ring> SEQUENCE =
            AtomicLongFieldUpdater.newUpdater(Ring.class, "sequence");
    private static final AtomicIntegerFieldUpdater<Ring> LOCKED =
            AtomicIntegerFieldUpdater.newUpdater(Ring.class, "locked");
    private static final AtomicLongFieldUpdater<Ring> NOW = AtomicLongFieldUpdater.newUpdater(Ring.class, "now");

    /** The number of records between two checks whether the ring is full. The least ring has four times as many. */
    static final int SEGMENT = 64;


    private static final long[] NO_STATES = new long[0];

    /**
     * For each method ID the slot in {@link #states}; 0 if the method was never switched off. Null as long as no
     * method was: a check for null costs the calls less than one of the length. Written by the owner.
     */
    char[] gate;

    /** For each slot of the gate the state of its method on this thread, see {@link Gate}. Written by the owner. */
    volatile long[] states = NO_STATES;

    /** The last request that the owner has carried out. */
    volatile Gate.Request applied;

    /** The last change of the gate on this thread; each refers to the one before. Written by the owner. */
    volatile Gate.Change lastChange;

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

    private volatile long sequence;

    private volatile long now;

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
        sequence = first;
        copied = first;
    }

    /** Creates an empty ring that stands alone. */
    Ring(Rings rings, Thread owner, int capacity) {
        this(rings, null, owner, capacity);
    }

    private Ring(Rings rings, ThreadTrace trace, Thread owner, int capacity) {
        super(capacity);
        this.rings = rings;
        this.trace = trace;
        this.owner = owner;
        this.window = rings == null ? null : new Window(rings.memory);
    }

    /** Creates a larger ring with the content of another one. To be called by the owner, while no window is open. */
    Ring(Ring full, int capacity) {
        this(full.rings, full.trace, full.owner, capacity);
        long end = full.sequence;
        long first = Math.max(full.oldest, end - full.length());
        for (long n = first; n < end; n++) {
            lazySet((int) n & capacity - 1, full.get((int) n & full.length() - 1));
        }
        oldest = first;
        copied = full.copied;
        now = full.now;
        gate = full.gate;
        states = full.states;
        applied = full.applied;
        lastChange = full.lastChange;
        sequence = end;
    }

    /**
     * Returns a ring without a valid time. It stands for the real ring while the fast path is off; nothing is put
     * into it.
     */
    static Ring placeholder(Thread owner) {
        Ring ring = new Ring(null, owner, 1);
        ring.now = -1;
        return ring;
    }

    /** Returns the time that a record gets now, in ticks; below 0 for a placeholder. */
    long now() {
        return now;
    }

    /** Moves the time forward. Any thread may call it; the time never goes back. */
    void advance(long ticks) {
        for (;;) {
            long n = now;
            if (ticks <= n || NOW.compareAndSet(this, n, ticks)) {
                return;
            }
        }
    }

    /** Puts a record behind the last one, or into the open window. Only the owner may call it. */
    void put(long record) {
        long n = sequence;
        if (((int) n & SEGMENT - 1) == 0) {
            if (!beginSegment(record)) {
                return;
            }
            // A window may have been closed meanwhile.
            n = sequence;
        }
        // Not a mask from a field: in this form the compiler can drop the bounds check.
        lazySet((int) n & length() - 1, record);
        SEQUENCE.lazySet(this, n + 1);
    }

    /**
     * Reports whether the next segment may be written to. If not, the record was put into a larger ring or added to
     * the window.
     */
    private boolean beginSegment(long record) {
        Ring next = successor;
        if (next != null) {
            rings.replaced(next);
            next.put(record);
            return false;
        }
        boolean overwrite = rings.overwrite;
        if (overwrite) {
            if (sequence + SEGMENT - oldest <= length()) {
                return true;
            }
            next = grow();
        } else if (sequence + SEGMENT - copied >= length() && !hasWindow()) {
            next = grow();
        }
        if (next != null) {
            next.put(record);
            return false;
        }
        return overwrite || mayWrite(record);
    }

    private boolean mayWrite(long record) {
        lock();
        try {
            long used = sequence - copied;
            if (!window.isOpen() && used + SEGMENT < length()) {
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
        if (sequence < nextGrowth) {
            return null;
        }
        Ring next = rings.larger(this);
        if (next == null) {
            nextGrowth = sequence + length();
            return null;
        }
        boolean published = false;
        try {
            // Not if the ring was released meanwhile.
            published = trace == null || trace.replaceRing(this, next);
        } finally {
            if (!published) {
                rings.giveUnused(next, this);
            }
        }
        if (!published) {
            return null;
        }
        successor = next;
        try {
            rings.replaced(next);
        } catch (Throwable e) {
            // No stack is left. The thread of the clock does the rest in its next period.
        }
        return next;
    }

    private void lock() {
        while (!LOCKED.compareAndSet(this, 0, 1)) {
            Thread.yield();
        }
    }

    /**
     * Sets up to where records were copied. On the sampler's thread only.
     *
     * @param next the number of the next record to copy
     */
    void copied(long next) {
        if (next > copied) {
            copied = next;
        }
    }

    /** Returns the number of the first record that may be in the ring. The records before it are lost. */
    long oldest() {
        return Math.max(oldest, sequence - length());
    }

    /** Returns the number of the next record that will be copied. */
    long copied() {
        return copied;
    }

    /**
     * Closes the open window, if all records were copied: puts its records behind the last one. On the
     * sampler's thread only.
     *
     * @return the window that was closed, or a part of it if it has more records than the ring; null if none was open
     */
    Window.Closed closeWindow() {
        lock();
        try {
            if (!window.isOpen() || sequence != copied) {
                return null;
            }
            long first = sequence;
            int most = length() - SEGMENT;
            // The rest stays in the window. The sequence must then stay at the begin of a segment.
            int n = Math.min(window.size(), most);
            for (int k = 0; k < n; k++) {
                lazySet((int) (first + k) & length() - 1, window.record(k));
            }
            long lost = window.lost();
            if (lost > 0) {
                // Before the sequence: a reader that loads the new sequence must see that these records are missing.
                oldest = first + lost;
            }
            Window.Closed closed = window.take(first + lost, n, now);
            SEQUENCE.lazySet(this, first + lost + n);
            return closed;
        } finally {
            locked = 0;
        }
    }

    /**
     * Reports whether the call of a method is left out because its method is switched off, and counts it. The owner
     * calls it for each entry, and {@link #dropsExit} for each exit, of a method that has a slot.
     */
    boolean dropsEntry(int slot) {
        long[] all = states;
        if (slot >= all.length) {
            return false;
        }
        long state = all[slot];
        int open = (int) state;
        if (open == 0) {
            return false;
        }
        all[slot] = state + (open > 0 ? Gate.CALL + 1 : Gate.CALL);
        return true;
    }

    /** Reports whether the exit of a method belongs to an entry that was left out. */
    boolean dropsExit(int slot) {
        long[] all = states;
        if (slot >= all.length) {
            return false;
        }
        long state = all[slot];
        int open = (int) state;
        if (open == 0 || open == Gate.OFF) {
            return false;
        }
        if (open > 0) {
            all[slot] = state - 1;
        }
        return true;
    }

    /** Returns how many records were put in total, which is the number of the next one. */
    long sequence() {
        return sequence;
    }

    /** Copies the records from one number up to another, excluding that, as far as they are still in the ring. */
    RecordCopy copy(long from, long to) {
        // For another thread the oldest slot may be half overwritten: the slot is stored before the sequence.
        int kept = Thread.currentThread() == owner ? length() : length() - 1;
        long start = Math.max(0, from);
        long written = sequence;
        long end = Math.max(start, Math.min(to, written));
        long first = Math.min(end, Math.max(start, Math.max(oldest, written - kept)));
        long[] records = new long[(int) (end - first)];
        for (int k = 0; k < records.length; k++) {
            records[k] = get((int) (first + k) & length() - 1);
        }
        long valid = Math.min(end, Math.max(first, sequence - kept));
        if (valid > first) {
            long[] rest = new long[(int) (end - valid)];
            System.arraycopy(records, (int) (valid - first), rest, 0, rest.length);
            records = rest;
        }
        return new RecordCopy(valid, records, valid - start);
    }
}
