package dev.tracegen.runtime;

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

    RecordCopy(long firstSequence, long[] records, long overwritten) {
        this.firstSequence = firstSequence;
        this.records = records;
        this.overwritten = overwritten;
    }

    /** Returns the part from a record on. It is empty if all records come before that one. */
    RecordCopy from(long number) {
        long lost = Math.max(0, Math.min(overwritten, firstSequence - number));
        int skipped = (int) Math.max(0, Math.min(records.length, number - firstSequence));
        return new RecordCopy(firstSequence + skipped,
                java.util.Arrays.copyOfRange(records, skipped, records.length), lost);
    }
}
