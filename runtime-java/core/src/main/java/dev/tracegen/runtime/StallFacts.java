package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.List;

/** What is gathered about one message while it runs. The recorder's thread's alone, but where it says otherwise. */
final class StallFacts {
    /** The message's number on its thread. */
    final long number;

    // How many collections there had been at the last look before it; -1 if not known.
    private final long gcCountBefore;
    private final long gcMillisBefore;

    /** When to take the next sample, in nanoseconds since the message's begin. */
    long nextSample;

    /** What was sampled and not yet written, which it is only if the threshold is passed. */
    final List<StackSample> samples = new ArrayList<StackSample>();

    /** Whether the threshold was passed while somebody looked. Tests look at it from elsewhere. */
    volatile boolean passed;

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

    /** The message has ended: what was collected meanwhile, and where the app is if nobody has looked before. */
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
