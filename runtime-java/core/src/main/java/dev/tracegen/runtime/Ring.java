package dev.tracegen.runtime;

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
    private static final AtomicLongFieldUpdater<Ring> NOW = AtomicLongFieldUpdater.newUpdater(Ring.class, "now");

    /** The thread that the records are of. */
    final Thread owner;

    private volatile long sequence;

    private volatile long now;

    /**
     * Creates an empty ring.
     *
     * @param owner the only thread that may put records
     * @param capacity number of records, a power of two
     */
    Ring(Thread owner, int capacity) {
        super(capacity);
        this.owner = owner;
    }

    /**
     * Returns a ring without a valid time. It stands for the real ring while the fast path is off; nothing is put
     * into it.
     */
    static Ring placeholder(Thread owner) {
        Ring ring = new Ring(owner, 1);
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

    /** Puts a record behind the last one. Only the owner may call it. */
    void put(long record) {
        long n = sequence;
        // Not a mask from a field: in this form the compiler can drop the bounds check.
        lazySet((int) n & length() - 1, record);
        SEQUENCE.lazySet(this, n + 1);
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
        long first = Math.min(end, Math.max(start, written - kept));
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
