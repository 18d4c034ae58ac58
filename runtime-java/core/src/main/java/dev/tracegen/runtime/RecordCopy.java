package dev.tracegen.runtime;

/**
 * Records of one thread, copied out of its ring, oldest first. Immutable but for its array.
 *
 * <p>A record is a long: bit 63 is set for an entry, bits 43 to 62 are the method's ID, bits 0 to 42 the time in ticks.
 */
public final class RecordCopy {
    /** The number of the first record: how many came before it on this thread. */
    public final long firstSequence;

    /** The records. */
    public final long[] records;

    /** How many of those that were asked for had been overwritten before they could be copied. */
    public final long overwritten;

    RecordCopy(long firstSequence, long[] records, long overwritten) {
        this.firstSequence = firstSequence;
        this.records = records;
        this.overwritten = overwritten;
    }
}
