package dev.tracegen.runtime;

import java.util.Arrays;

/**
 * Records of one thread, copied from its ring, the oldest first. Immutable except for the content of the array.
 *
 * <p>A record is a long. Bit 63 is set for an entry and clear for an exit, bits 43 to 62 are the method's ID, bits 0
 * to 42 are the time in ticks.
 */
public final class RecordCopy {
    /** The number of the first record: how many records of the thread came before it. */
    public final long firstSequence;

    /** The records. */
    public final long[] records;

    /** How many of the requested records were lost, because they were overwritten before they could be copied. */
    public final long overwritten;

    /** The marks of coroutines among them, as {@link Marks#take} returns them; null if none are to be written. */
    final long[] marks;

    RecordCopy(long firstSequence, long[] records, long overwritten) {
        this(firstSequence, records, overwritten, null);
    }

    RecordCopy(long firstSequence, long[] records, long overwritten, long[] marks) {
        this.firstSequence = firstSequence;
        this.records = records;
        this.overwritten = overwritten;
        this.marks = marks;
    }

    /** Returns the same records with the marks that a thread has kept. */
    RecordCopy with(Marks marks) {
        return marks == null ? this : new RecordCopy(firstSequence, records, overwritten,
                marks.kept(firstSequence, firstSequence + records.length));
    }

    /** Returns about how many bytes of memory it needs. */
    long bytes() {
        return 8L * records.length + (marks == null ? 0 : 8L * marks.length);
    }

    /** Copies the records of a ring, as {@link Ring#copy} does. {@link Ring} explains why that is correct. */
    static RecordCopy of(Ring ring, long from, long to) {
        long[] slots = ring.slots;
        long begun = ring.sequence;
        long start = Math.max(0, from);
        long end = Math.max(start, Math.min(to, ring.end(begun)));
        long first = Math.min(end, Math.max(start, ring.oldest()));
        long[] records = new long[(int) (end - first)];
        int n = 0;
        for (; n < records.length; n++) {
            long slot = slots[(int) (first + n) & slots.length - 1];
            if (first + n >= begun && ((int) slot == 0 || slot >>> 32 == 0)) {
                // It is not complete: the store to Ring.next was seen before it.
                break;
            }
            records[n] = slot - Ring.FULL;
        }
        long valid = Math.min(first + n, Math.max(first, ring.order() - slots.length));
        if (valid > first || n < records.length) {
            records = Arrays.copyOfRange(records, (int) (valid - first), n);
        }
        return new RecordCopy(valid, records, valid - start);
    }

    /** Returns the part from a record on. It is empty if all records come before that one. */
    RecordCopy from(long number) {
        long lost = Math.max(0, Math.min(overwritten, firstSequence - number));
        int skipped = (int) Math.max(0, Math.min(records.length, number - firstSequence));
        int written = 0;
        while (marks != null && written < marks.length && marks[written] < firstSequence + skipped) {
            written += 2;
        }
        return new RecordCopy(firstSequence + skipped, Arrays.copyOfRange(records, skipped, records.length), lost,
                marks == null || written == marks.length ? null : Arrays.copyOfRange(marks, written, marks.length));
    }
}
