package dev.tracegen.runtime;

/** What the sampler has of one thread. Used by the sampler only; tests read the facts. */
final class SamplerState {
    private static final int[] NONE = new int[0];

    private final ThreadTrace trace;

    /** The number of the next record to copy into the recording. */
    long nextToDrain;

    /** Whether all records were handed over at the last check. */
    boolean drained;

    /** Whether the thread had ended before the last check. */
    boolean ended;

    /** Null while the thread's outermost calls are of no interest. */
    CallMessages.OfThread outermost;

    // The last steady sample, when the next one is due, and since when the thread has not run.
    SteadySample lastStack;
    long nextStack;
    long stillSince;

    // The state of the thread's gate: its open calls, the calls that were left out by slot, and the last change that
    // was handed over.
    CallCounts.Open openCalls;
    int[] leftOut = NONE;
    Gate.Change writtenChange;

    /** The number of a request; all records from before the thread has carried it out were copied. */
    int copiedRequest;

    // How many records, marks, and calls in the open window the gate has counted.
    long made;
    int marks;
    long leftOutInWindow;

    // The number of the thread's next record when it last made one, and when that was seen.
    long lastRecord;
    long lastRecordNanos;

    // Facts about the last message that was checked, and the one before.
    volatile StallFacts facts;
    private StallFacts factsBefore;

    SamplerState(ThreadTrace trace) {
        this.trace = trace;
    }

    /** Returns the facts of a message; null if it was not checked while it ran. */
    StallFacts factsOf(long number) {
        return facts != null && facts.number == number ? facts
                : factsBefore != null && factsBefore.number == number ? factsBefore : null;
    }

    /** Sets the facts of the message that is checked for the first time. */
    void setFacts(StallFacts value) {
        factsBefore = facts;
        facts = value;
    }

    /** Reports whether messages of the thread are reported. Then its outermost calls do not count as messages. */
    boolean hasMessages() {
        return trace.messageNumber() > 0 || trace.runningSince() != 0;
    }

    private boolean ofTrace() {
        return outermost == null || hasMessages();
    }

    /** Returns when the open message or outermost call began; 0 if none is open. */
    long openSince() {
        return ofTrace() ? trace.runningSince() : outermost.since();
    }

    /** Returns the kind of the open message or outermost call. */
    int openKind() {
        return ofTrace() ? trace.runningKind() : MessageRecord.NORMAL;
    }

    /** Returns the number of the open message or outermost call, or of the next one. */
    long openNumber() {
        return ofTrace() ? trace.messageNumber() : outermost.number();
    }

    /** Returns the text of the open message or outermost call; null if it is not known. */
    String openText() {
        return ofTrace() ? trace.runningText() : outermost.text();
    }
}
