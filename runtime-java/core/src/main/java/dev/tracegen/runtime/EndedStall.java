package dev.tracegen.runtime;

import java.util.List;

/**
 * A stall that has ended, with the history of its thread before it. The sampler adds what it has found while the stall
 * lasted, and copies the records at once: the thread soon overwrites them. The writer and the delivery get the same
 * object. The first of the two that needs the {@link Stall} builds it.
 */
final class EndedStall {
    /** About how many bytes an object of this class needs, without records and history. */
    private static final long OWN_BYTES = 1024;

    /** About how many bytes each entry of the history needs. */
    private static final long ENTRY_BYTES = 64;

    final ThreadTrace trace;
    final MessageRecord message;
    final List<MessageRecord> before;

    // Set by the sampler before it hands the object over, and not changed afterwards.
    StallFacts facts;
    RecordCopy records;

    /** The composables that were executed, if records are written only of stalls; see {@link Compositions}. */
    long[] executions = {};
    long lostExecutions;

    private long endTicks;

    /** Used under the lock of this object. */
    private Stall stall;

    EndedStall(ThreadTrace trace, MessageRecord message, List<MessageRecord> before) {
        this.trace = trace;
        this.message = message;
        this.before = before;
    }

    /** Adds the facts and copies the records. On the sampler's thread. */
    void complete(StallFacts found, Ticker ticker, boolean everyRecord) {
        facts = found;
        facts.tickNanos = ticker.tickNanos();
        records = trace.copyWithMarks(message.firstRecord, message.endRecord);
        Compositions composed = trace.existingCompositions();
        if (composed != null && !everyRecord) {
            executions = composed.take(message.firstRecord, message.endRecord);
            lostExecutions = composed.takeLost();
        }
        endTicks = (message.beginNanos + message.wallNanos - ticker.baseNanos()) / ticker.tickNanos();
    }

    /** Returns about how many bytes of memory the stall needs while it waits. */
    long bytes() {
        return OWN_BYTES + ENTRY_BYTES * before.size() + records.bytes() + 8L * executions.length;
    }

    /**
     * Returns the stall. The first call builds its call tree, which takes some time, so that the sampler does not call
     * it. Under the lock no code of the app runs and nothing is read or written.
     */
    synchronized Stall stall() {
        if (stall == null) {
            stall = new Stall(trace, message, facts, new CallTree(records.records, endTicks), before, null);
        }
        return stall;
    }

    /** Returns the stall with the texts as they are delivered. */
    Stall stall(Texts texts) {
        return new Stall(trace, message, facts, stall().tree, before, texts);
    }
}
