package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.List;

/**
 * What the sampler collects about one message while it runs. Used by the sampler only until it hands a stall over that
 * has ended. From then on nothing is changed, except where a field says otherwise.
 */
final class StallFacts {
    /** The message's number on its thread. */
    final long number;

    // The garbage collection counters before the message; -1 if unknown.
    private final long gcCountBefore;
    private final long gcMillisBefore;

    /** From which duration on it is a stall, in nanoseconds. */
    long thresholdNanos;

    /** When to take the next stack sample, in nanoseconds since the message began. */
    long nextSample;

    // When the thread put its last record, as far as the sampler saw, and the number of the next one. A hang
    // in a call deep below an outermost call begins there.
    long quietSince;
    long nextRecord = -1;

    /** When to take the next stack sample because of that, in nanoseconds since {@link #quietSince}. */
    long nextQuietSample;

    // When the last sign of life was written, in {@link Platform#nanoTime()}, and the number of the thread's next
    // record then.
    long lastSign;
    long signedRecord;

    /** The number behind the last record of the running message that was handed over to the writer. */
    long handedOver;

    // The number behind the last record of the running message that was written, and the ID of the file. Used by the
    // writer only.
    long written;
    long writtenFile;

    /** Stack samples that are not written yet. They are written when the message has become a stall. */
    final List<StackSample> samples = new ArrayList<StackSample>();

    /** Whether the sampler saw the message pass the slow threshold. Tests read it from other threads. */
    volatile boolean passed;

    /** How much of the message's time the process did not run, see {@link Suspensions}. */
    long suspendedNanos;

    Thread.State state;
    String lockOwner;
    List<PendingMessage> pending;
    long gcCount = -1;
    long gcMillis = -1;
    String scene;
    boolean foreground;

    StallFacts(long number, long gcCountBefore, long gcMillisBefore) {
        this.number = number;
        this.gcCountBefore = gcCountBefore;
        this.gcMillisBefore = gcMillisBefore;
    }

    /**
     * Completes the facts when the message has ended: the garbage collections, and the scene if it is not set yet.
     */
    void end(Recorder recorder) {
        long count = recorder.platform().gcCount();
        if (count >= 0 && gcCountBefore >= 0) {
            gcCount = count - gcCountBefore;
            gcMillis = recorder.platform().gcMillis() - gcMillisBefore;
        }
        if (!passed) {
            scene = recorder.scene();
            foreground = recorder.foreground();
        }
    }
}
