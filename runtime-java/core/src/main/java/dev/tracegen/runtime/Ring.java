package dev.tracegen.runtime;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * The last records of one thread: written by that thread alone, copied by any.
 *
 * <p>Records are numbered from 0 by a sequence of 64 bits; number n lies in slot n mod capacity.
 *
 * <p><b>Why a copy is right.</b> The owner puts record n by two release stores, slot first, then the sequence n+1; a
 * reader uses volatile loads ({@code lazySet} and {@code get}: in the terms of Java 9, {@code setRelease} and
 * {@code getVolatile}).
 * <ul>
 * <li>A reader that sees the sequence s sees records below s, or what has overwritten them: the slot's store is
 *     before the sequence's, which is a release.
 * <li>Assume that a reader, looking for record k, loads what record k+capacity (or a later one) has left in the slot.
 *     Before storing that, its owner has stored the sequence k+capacity, and a release store does not move up before
 *     an earlier one. The slot's load sees a release store, so the sequence's load that follows it sees k+capacity
 *     at least. So every record k of a copy for which the sequence, loaded <i>after</i> the copy, is below k+capacity
 *     is the one that was meant; the others are dropped and counted.
 * <li>No long is torn: the stores and loads are those of a volatile.
 * </ul>
 * Plain stores would not do: a plain store may move up before an earlier release of the sequence, and a reader's plain
 * loads may move down past its last look at the sequence. Nor is anything gained by them: on x86 a release store is a
 * plain {@code mov}, on 64-bit ARM one {@code stlr}.
 */
final class Ring extends AtomicLongArray {
    private static final long serialVersionUID = 1;

    /** Bit 63 of a record: an entry. */
    static final long ENTRY = 1L << 63;

    /** Where a record's ID begins. */
    static final int ID_SHIFT = 43;

    /** The bits of a record's time. */
    static final long TIME_MASK = (1L << ID_SHIFT) - 1;

    // By name: the rules for R8 in META-INF/proguard keep these.
    private static final AtomicLongFieldUpdater<Ring> SEQUENCE = AtomicLongFieldUpdater.newUpdater(Ring.class, "sequence");
    private static final AtomicLongFieldUpdater<Ring> NOW = AtomicLongFieldUpdater.newUpdater(Ring.class, "now");

    /** The thread whose records these are. */
    final Thread owner;

    private volatile long sequence;

    private volatile long now;

    /**
     * An empty ring.
     *
     * @param capacity a power of two
     */
    Ring(Thread owner, int capacity) {
        super(capacity);
        this.owner = owner;
    }

    /** What stands for a thread's ring while that thread has to go the long way. Nothing is ever put into it. */
    static Ring placeholder(Thread owner) {
        Ring ring = new Ring(owner, 1);
        ring.now = -1;
        return ring;
    }

    /** The time that a record gets now, in ticks; below 0 in what only stands for a ring. */
    long now() {
        return now;
    }

    /** Moves the time on. Anybody may; it never goes back. */
    void advance(long ticks) {
        for (;;) {
            long n = now;
            if (ticks <= n || NOW.compareAndSet(this, n, ticks)) {
                return;
            }
        }
    }

    /** Puts a record behind the last one. Only its owner may. */
    void put(long record) {
        long n = sequence;
        // Not a mask in a field: of this form the compiler knows that it is within bounds.
        lazySet((int) n & length() - 1, record);
        SEQUENCE.lazySet(this, n + 1);
    }

    /** How many records there ever were, which is the next one's number. */
    long sequence() {
        return sequence;
    }

    /**
     * Copies the records from a number up to, and without, another, as far as they are there.
     */
    RecordCopy copy(long from, long to) {
        // Another's copy may find the oldest slot half way to being overwritten: the slot's store comes first.
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
