package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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

    /** Steady samples that are not written yet, if only records of stalls are. */
    final List<SteadySample> steady = new ArrayList<SteadySample>();

    /** Stack samples for the {@link Stall}: the first ones. They are kept when they are written. */
    final List<ThreadStack> taken = new ArrayList<ThreadStack>();

    /** The unit of the times of the call tree, in nanoseconds. */
    long tickNanos = 1;

    /** Whether the sampler saw the message pass the slow threshold. Tests read it from other threads. */
    volatile boolean passed;

    /** How much of the message's time the process did not run, see {@link Suspensions}. */
    long suspendedNanos;

    // What was read of the machine when the first sample was taken, and when the threshold was passed; null if it was
    // not read.
    Map<String, String> machineBefore;
    Map<String, String> machineThen;

    /** How late the sampler was at most while the message ran: the machine was busy, or the process stopped. */
    long lateNanos;

    /** What is known of the machine when the threshold was passed, and since then; empty if nothing is. */
    Map<String, String> machine = Collections.emptyMap();

    Thread.State state;
    String lockOwner;
    List<PendingMessage> pending;
    long gcCount = -1;
    long gcMillis = -1;
    String scene;
    boolean foreground;

    private static final int MAX_TAKEN = 16;

    /** Adds a sample, which is also kept for the stall if there are not too many. */
    void add(StackSample s) {
        samples.add(s);
        if (taken.size() < MAX_TAKEN) {
            taken.add(ThreadStack.of(s.trace.name(), s.nanos, s.state, s.stack));
        }
    }

    StallFacts(long number, long gcCountBefore, long gcMillisBefore) {
        this.number = number;
        this.gcCountBefore = gcCountBefore;
        this.gcMillisBefore = gcMillisBefore;
    }

    /** Reads the state of the machine before the threshold, to which the later ones are compared. */
    void machineBefore(Platform platform, Thread thread) {
        if (machineBefore == null && !passed) {
            machineBefore = platform.machineFacts(thread);
        }
    }

    /** Reads the state of the machine when the threshold is passed. */
    void machineThen(Platform platform, Thread thread) {
        machineThen = platform.machineFacts(thread);
        Map<String, String> all = MachineFacts.between(machineBefore, machineThen);
        if (!machineThen.isEmpty()) {
            all.put("recorder-late-millis", String.valueOf(lateNanos / 1000000L));
        }
        machine = Collections.unmodifiableMap(all);
    }

    /**
     * Reads the state of the machine when the message has ended, and adds it to {@link #machine}.
     *
     * @return the facts since the threshold was passed; null if there are none
     */
    Map<String, String> machineAtEnd(Platform platform, Thread thread) {
        if (machineThen == null || machineThen.isEmpty()) {
            return null;
        }
        Map<String, String> end = MachineFacts.between(machineThen, platform.machineFacts(thread));
        Map<String, String> all = new LinkedHashMap<String, String>(machine);
        for (Map.Entry<String, String> e : end.entrySet()) {
            all.put("end-" + e.getKey(), e.getValue());
        }
        machine = Collections.unmodifiableMap(all);
        return end;
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
