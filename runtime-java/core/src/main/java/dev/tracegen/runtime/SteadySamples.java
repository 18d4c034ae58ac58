package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Takes steady samples: stacks of threads on which a message or outermost call runs, whatever they do. They show what
 * no record does: methods that are off or not traced, libraries, and native code. Used by the sampler's thread only,
 * but for {@link #wrote}: so the samples are handed over before it copies records that were put behind them.
 *
 * <p><b>When.</b> At random moments, so that they are in step with no program. One stack is taken at a time, of the
 * thread that has waited longest for its turn.
 *
 * <p><b>What it costs.</b> After each stack nothing is taken for so long that all work for it is at most 1 % of the
 * time. The thread, and on Java 17 all threads, are stopped during a part of that: the JVM's log said 62 of 156 and 50
 * of 173 microseconds. The rest is spent before and behind, to make objects of the frames. A thread that has not run
 * since its last sample is not stopped: its stack is the same.
 *
 * <p><b>What is kept.</b> If every record is written, all samples are. If only records of stalls are, those of a
 * message wait in its {@link StallFacts} until it is a stall, and none is taken of short messages.
 */
final class SteadySamples {
    /** How often a thread is sampled, and how often in a stall and when methods of it are off, if that costs little. */
    static final long USUAL_NANOS = 20000000L;
    static final long DENSE_NANOS = 5000000L;

    /** A thread that does not run is sampled after a share of the time for which it has not, at most this. */
    private static final int STILL_SHARE = 16;
    private static final long STILL_NANOS = 1000000000L;

    /** All work is at most one part in so many of the time. */
    static final int WORK_SHARE = 100;

    /** About what it costs that this thread wakes up, which it cannot measure. */
    private static final long WAKE_NANOS = 15000;

    /** More is not the work of one sample. */
    private static final long MOST_WORK_NANOS = 200000;

    /** A stack costs as much as each of its frames and so many more. */
    private static final int OTHER_FRAMES = 100;

    /** At most one part in so many of the time is spent on stacks while methods wait to be let go. */
    private static final int DUE_SHARE = 10;

    /** What part of its time counts as the cost of a sample that was lost because the thread did not stop for long. */
    private static final int LOST_SHARE = 5;

    /** How many samples may wait until they are handed over, and for how long. */
    private static final int MAX_WAITING = 256;
    private static final long WAIT_NANOS = 500000000L;

    private final Recorder recorder;
    private final RecorderOptions options;
    private final Platform platform;
    private final WriterQueue out;
    private final Random random = new Random();

    /** The samples that are to be written, if every record is. */
    private final List<SteadySample> waiting = new ArrayList<SteadySample>();

    private boolean off;

    /** When the next stack may be taken. */
    private long next;

    /** How long it took to take the last stack. */
    private long taking;

    /** What the last stacks cost, in nanoseconds a frame, and how many there were. */
    private final long[] frameNanos = new long[16];
    private int measured;

    /** About what it costs to write a sample. */
    private volatile long writeNanos;

    SteadySamples(Recorder recorder, WriterQueue out) {
        this.recorder = recorder;
        this.options = recorder.options();
        this.platform = options.platform;
        this.out = out;
        this.off = options.steady == RecorderOptions.STEADY_OFF;
    }

    /**
     * Takes a stack if it is time to.
     *
     * @return in how many nanoseconds this is to be called again; it may be called at any time
     */
    long take() {
        if (off || !out.writes()) {
            return Long.MAX_VALUE;
        }
        long now = platform.nanoTime();
        if (now >= next) {
            // First of all: what follows may fail each time.
            next = now + around(USUAL_NANOS);
            ThreadTrace due = null;
            long others = next;
            for (ThreadTrace t : recorder.threads.all()) {
                if (!runs(t, now)) {
                    continue;
                }
                if (due == null || t.sampled.nextStack < due.sampled.nextStack) {
                    others = due == null ? others : Math.min(others, due.sampled.nextStack);
                    due = t;
                } else {
                    others = Math.min(others, t.sampled.nextStack);
                }
            }
            if (due == null && !options.everyRecord) {
                // The next check is early enough.
                next = now;
                return Long.MAX_VALUE;
            }
            taking = 0;
            boolean taken = due != null && due.sampled.nextStack <= now;
            long stack = taken ? sample(due, now) : 0;
            long after = platform.nanoTime();
            // This thread may have waited for a processor meanwhile.
            long rest = Math.min(MOST_WORK_NANOS, after - now - taking) + WAKE_NANOS + (taken ? writeNanos : 0);
            others = due == null ? others : Math.min(others, due.sampled.nextStack);
            long pause = WORK_SHARE * (stack + rest);
            // The first ones may have waited for a processor, all of them.
            pause = measured < frameNanos.length ? Math.min(5 * USUAL_NANOS, pause) : pause;
            next = Math.max(others, after + Math.max(pause, LetGo.isDue(after) ? DUE_SHARE * taking : 0));
        }
        return Math.max(1, next - now);
    }

    /** To be called after a sleep: a message has just begun, and the next stack must not always be of its begin. */
    void woke() {
        next = platform.nanoTime() + (long) (random.nextDouble() * USUAL_NANOS);
    }

    private long around(long nanos) {
        return (long) (nanos * (0.5 + random.nextDouble()));
    }

    /** Reports whether a thread is to be sampled now, because a message or an outermost call runs on it. */
    private boolean runs(ThreadTrace t, long now) {
        long since = t.sampled.openSince();
        return since != 0 && (t.main || options.steady != RecorderOptions.STEADY_MAIN)
                && (options.everyRecord || now - since >= Sampler.pollNanos(options, 0)
                        && t.sampled.factsOf(t.sampled.openNumber()) != null);
    }

    /** Takes the stack of a thread. Returns about how many nanoseconds that has cost, 0 if the thread has not run. */
    private long sample(ThreadTrace t, long now) {
        SamplerState s = t.sampled;
        StallFacts facts = s.factsOf(s.openNumber());
        if (facts == null && !options.everyRecord) {
            // The message has just ended.
            return 0;
        }
        Ring ring = t.existingRing();
        boolean dense = ring != null && ring.lastChange != null
                || facts != null && now - s.openSince() >= facts.thresholdNanos / 2;
        long interval = dense ? DENSE_NANOS : USUAL_NANOS;
        s.nextStack = now + around(interval);
        long record = t.nextRecord();
        Thread.State state = t.thread.getState();
        long cpu = platform.threadCpuNanos(t.thread);
        SteadySample last = s.lastStack;
        boolean still = last != null && state == last.state && state != Thread.State.RUNNABLE
                && record == last.record + last.records;
        StackTraceElement[] stack = null;
        long cost = 0;
        if (still && cpu >= 0 && cpu == last.cpuNanos) {
            stack = last.stack;
        } else {
            long asked = platform.nanoTime();
            boolean shown = LetGo.show(state);
            long begin = platform.nanoTime();
            boolean whole = true;
            try {
                stack = t.thread.getStackTrace();
            } catch (SecurityException e) {
                off = true;
                platform.log("no steady samples are taken: " + e);
                return 0;
            } finally {
                whole = LetGo.hide(shown);
            }
            long end = platform.nanoTime();
            cost = cost(end - begin, stack.length) + (shown ? WAKE_NANOS : 0);
            // Also the time for which this thread has slept.
            taking = end - asked;
            if (!whole) {
                recorder.dropped().add(Dropped.SAMPLES, 1);
                return taking / LOST_SHARE;
            }
        }
        s.stillSince = still ? s.stillSince : now;
        if (still) {
            interval = Math.max(interval, Math.min(STILL_NANOS, (now - s.stillSince) / STILL_SHARE));
            s.nextStack = now + around(interval);
        }
        if (!recorder.recording()) {
            // It was stopped before or meanwhile: the stack may show the recorder's own shutdown hook.
            return 0;
        }
        s.lastStack = new SteadySample(t, now, state, stack, record, t.nextRecord() - record, cpu);
        add(options.everyRecord ? waiting : facts.steady, s.lastStack);
        return cost;
    }

    /**
     * Notes what a stack has taken, and returns about what it has cost: a quarter more than by the cheapest of the last
     * ones. On a busy machine others take many times as long, because a thread must get a processor to stop.
     */
    private long cost(long nanos, int frames) {
        frameNanos[measured++ % frameNanos.length] = nanos / (frames + OTHER_FRAMES);
        long least = Long.MAX_VALUE;
        for (int k = Math.min(measured, frameNanos.length) - 1; k >= 0; k--) {
            least = Math.min(least, frameNanos[k]);
        }
        return Math.max(1, least * (frames + OTHER_FRAMES) * 5 / 4);
    }

    private void add(List<SteadySample> to, SteadySample sample) {
        if (to.size() == MAX_WAITING) {
            // Every second one goes, so that the rest is of the whole time.
            for (int k = to.size() - 2; k >= 0; k -= 2) {
                to.remove(k);
            }
            recorder.dropped().add(Dropped.SAMPLES, MAX_WAITING / 2);
        }
        to.add(sample);
    }

    /** Hands over the samples that wait, before records that may have been put behind them. */
    void handOver() {
        handOver(waiting);
    }

    /** Hands over the samples that have waited for long: the process may be killed. */
    void handOverOld() {
        if (!waiting.isEmpty() && platform.nanoTime() - waiting.get(0).nanos >= WAIT_NANOS) {
            handOver();
        }
    }

    /** Hands over the samples of a message that has become a stall, or whose records are written. */
    void handOver(List<SteadySample> samples) {
        if (!samples.isEmpty()) {
            out.stacks(new ArrayList<SteadySample>(samples), this);
            samples.clear();
        }
    }

    /** Notes what it has cost to write samples, in nanoseconds of CPU time. On the writer's thread. */
    void wrote(int samples, long nanos) {
        writeNanos = (7 * writeNanos + Math.max(0, nanos) / samples) / 8;
    }
}
