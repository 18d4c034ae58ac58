package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Measures how long the running messages take, samples the stacks of those that take long, and completes stalls that
 * have ended. Used by the sampler only, but for {@link #ended} and {@link #readGcCounters}.
 */
final class StallWatch {
    /** How many stalls of messages may wait for the sampler. More are dropped and counted. */
    private static final int MAX_STALLS = 16;

    /** How many waiting messages of a stall are written. */
    private static final int MAX_PENDING = 200;

    /** Samples take at most one part in so many of a processor's time, but for the main thread's. */
    private static final int SAMPLING_SHARE = 5;

    /** How much of the time that is to come they may take at once. */
    private static final long AHEAD_NANOS = 250000000L;

    /** A stack that takes longer is one of a thread that waits for a processor. */
    private static final long SLOW_NANOS = 10000000L;

    /** How many threads are sampled of which each holds the lock that the one before waits for. */
    private static final int MAX_OWNERS = 8;

    private final Recorder recorder;
    private final Ticker ticker;
    private final RecorderOptions options;
    private final Platform platform;
    private final WriterQueue out;
    private final Delivery delivery;
    private final Suspensions suspensions;
    private final SignsOfLife signs;
    private final SteadySamples steady;
    private final ArrayBlockingQueue<EndedStall> ended = new ArrayBlockingQueue<EndedStall>(MAX_STALLS);
    private volatile long gcCount;
    private volatile long gcMillis;

    /** Up to when the samples' share of the time is used: very many threads may wait at once. */
    private long usedUntil;

    /** Whether the last stack took long. */
    private boolean slow;

    StallWatch(Recorder recorder, Ticker ticker, WriterQueue out, Delivery delivery, Suspensions suspensions,
            SignsOfLife signs, SteadySamples steady) {
        this.recorder = recorder;
        this.ticker = ticker;
        this.options = recorder.options();
        this.platform = options.platform;
        this.out = out;
        this.delivery = delivery;
        this.suspensions = suspensions;
        this.signs = signs;
        this.steady = steady;
    }

    /** Queues a stall that has ended, or counts it as dropped. On any thread. */
    void ended(EndedStall stall) {
        if (!ended.offer(stall)) {
            recorder.dropped().add(Dropped.STALLS, 1);
        }
    }

    /** Reports whether no stall waits. */
    boolean isEmpty() {
        return ended.isEmpty();
    }

    /** Reads the counters to which the next messages are compared. On any thread. */
    void readGcCounters() {
        gcCount = platform.gcCount();
        gcMillis = platform.gcMillis();
    }

    /** Hands over the times in which the process did not run, before records and stalls from behind them. */
    void writeSuspensions() {
        suspensions.look();
        if (!suspensions.found().isEmpty() && out.suspended(suspensions.found())) {
            suspensions.written();
        }
    }

    /** Hands over the stalls that wait. Returns how many there were. */
    int reportAll() {
        int n = 0;
        for (EndedStall s = ended.poll(); s != null; s = ended.poll()) {
            report(s);
            n++;
        }
        return n;
    }

    /** Completes a stall and hands it over, if it is one without the time in which the process did not run. */
    void report(EndedStall s) {
        writeSuspensions();
        MessageRecord m = s.message;
        long suspended = suspensions.within(m.beginNanos, m.beginNanos + m.wallNanos);
        if (m.wallNanos - suspended < options.slowNanos(m.kind)) {
            return;
        }
        StallFacts facts = s.trace.sampled.factsOf(s.message.sequence);
        if (facts == null) {
            facts = new StallFacts(s.message.sequence, gcCount, gcMillis);
        }
        facts.end(recorder);
        facts.suspendedNanos = suspended;
        Map<String, String> end = facts.machineAtEnd(platform, s.trace.thread);
        if (end != null) {
            out.machine(s.trace, facts.number, platform.nanoTime(), end);
        }
        if (out.writes() || delivery.wanted()) {
            steady.handOver(facts.steady);
            s.complete(facts, ticker, options.everyRecord);
            out.stall(s);
            delivery.stall(s);
        }
    }

    /**
     * Checks the message that runs on a thread. It takes stack samples from half of the slow threshold on, at growing
     * intervals. The intervals begin anew when the thread puts no record for as long as the threshold: an outermost
     * call may last as long as the program and hang at its end. Facts about a stall are written as soon as the
     * threshold is passed, because the message may never end.
     *
     * @param lateNanos how much later than wanted the current check began
     * @return 1 if a message runs, else 0
     */
    int watch(ThreadTrace t, long lateNanos) {
        long since = t.sampled.openSince();
        long number = t.sampled.openNumber();
        if (since == 0) {
            return 0;
        }
        suspensions.look();
        if (suspensions.debugged()) {
            return 1;
        }
        StallFacts f = t.sampled.factsOf(number);
        if (f == null) {
            f = new StallFacts(number, gcCount, gcMillis);
            f.thresholdNanos = options.slowNanos(t.sampled.openKind());
            if (t.sampled.hasMessages() && (t.messageNumber() != number || t.runningSince() != since)) {
                // It has ended meanwhile, and the kind may be that of the next one.
                return 1;
            }
            f.nextSample = f.thresholdNanos / 2;
            t.sampled.setFacts(f);
        }
        long threshold = f.thresholdNanos;
        long now = recorder.lastNanos();
        long elapsed = now - since - suspensions.within(since, now);
        f.lateNanos = Math.max(f.lateNanos, lateNanos);
        Ring ring = t.existingRing();
        long next = ring == null ? 0 : ring.sequence();
        boolean calls = next != f.nextRecord;
        if (calls) {
            f.nextRecord = next;
            f.quietSince = now;
            f.nextQuietSample = threshold;
        }
        long quiet = now - f.quietSince - suspensions.within(f.quietSince, now);
        if ((elapsed >= f.nextSample || quiet >= f.nextQuietSample) && (t.main || usedUntil - now <= AHEAD_NANOS
                && !(slow && LetGo.isDue(now)))) {
            if (elapsed >= f.nextSample) {
                f.nextSample = elapsed < threshold ? Math.min(threshold, elapsed + threshold / 4)
                        : elapsed + elapsed / 4;
            }
            if (quiet >= f.nextQuietSample) {
                f.nextQuietSample = quiet + quiet / 4;
            }
            long begin = platform.threadCpuNanos();
            sample(t, f, elapsed >= threshold);
            long used = platform.threadCpuNanos() - begin;
            usedUntil = Math.max(usedUntil, now) + Math.min(AHEAD_NANOS, used * SAMPLING_SHARE);
        }
        if (f.passed) {
            steady.handOver(f.steady);
        }
        signs.of(t, f, since, quiet >= threshold ? quiet : elapsed, next, calls);
        return 1;
    }

    private void sample(ThreadTrace t, StallFacts f, boolean passed) {
        long begin = platform.nanoTime();
        StackSample sample = StackSample.of(t, recorder);
        slow = platform.nanoTime() - begin > SLOW_NANOS;
        if (!recorder.recording()) {
            // It was stopped before or meanwhile: the stack may show the recorder's own shutdown hook.
            return;
        }
        f.add(sample);
        List<ThreadTrace> sampled = new ArrayList<ThreadTrace>();
        sampled.add(t);
        ThreadTrace owner = sample.owner;
        while (owner != null && !sampled.contains(owner) && sampled.size() <= MAX_OWNERS) {
            StackSample s = StackSample.of(owner, recorder);
            f.add(s);
            sampled.add(owner);
            owner = s.owner;
        }
        if (passed) {
            thresholdPassed(t, f, sample);
        } else {
            f.machineBefore(platform, t.thread);
        }
    }

    private void thresholdPassed(ThreadTrace t, StallFacts f, StackSample sample) {
        boolean first = !f.passed;
        if (first) {
            f.state = sample.state;
            f.lockOwner = sample.owner == null ? null : sample.owner.name() + " holds " + sample.lock.lockClass;
            f.scene = recorder.scene();
            f.foreground = recorder.foreground();
            PendingQueue queue = t.pendingQueue();
            f.pending = queue == null ? null : queue.snapshot(MAX_PENDING);
            f.machineThen(platform, t.thread);
            f.passed = true;
        }
        for (StackSample s : f.samples) {
            out.sample(s);
        }
        f.samples.clear();
        if (first) {
            out.pending(t, f.number, f.pending);
            out.machine(t, f.number, sample.nanos, f.machine);
        }
    }
}
