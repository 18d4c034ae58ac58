package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.MessageRecord;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.ThreadStack;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The detector {@code steady-samples}: takes stacks of the Looper's thread at a fixed interval, from 0.8 times the slow
 * threshold of the message on, as BlockCanary does, and reports them if the message passes the threshold. Equal stacks
 * are one entry with a count. At most {@link #MAX_STACKS} entries are kept, the last ones.
 *
 * <p>How it finds the moment at which it begins is as in {@link Hold}. The times of the stacks are those of the
 * recorder's clock, by which its records are stamped too.
 */
public final class SteadySamples extends Watcher {
    /** How many different stacks are kept. */
    static final int MAX_STACKS = 100;

    /** A sample that comes after so many times the interval, in percent, says that the machine was busy. */
    private static final int BUSY_PERCENT = 120;

    /** 0 for the recorder's slow threshold. */
    private final long givenThreshold;
    private final long intervalNanos;
    private long thresholdNanos;

    /** The begin of the message that is watched, 0 for none, and what is known of it. */
    private long watched;
    private Incident.Builder incident;
    private long nextSample;
    private long lastSample;
    private final LinkedHashMap<List<StackTraceElement>, Entry> entries =
            new LinkedHashMap<List<StackTraceElement>, Entry>();
    private int late;
    private int left;

    /** How many samples were taken, for tests. */
    private volatile int samples;

    private static final class Entry {
        final ThreadStack first;
        int count;

        Entry(ThreadStack first) {
            this.first = first;
        }
    }

    private SteadySamples(long givenThreshold, long intervalNanos) {
        super("steady-samples");
        this.givenThreshold = givenThreshold;
        this.intervalNanos = intervalNanos;
    }

    /**
     * Returns the detector.
     *
     * @param o {@code steady-samples.interval-millis}, {@code steady-samples.threshold-millis} (the slow threshold of
     *     messages)
     * @return a new detector, which is off
     */
    public static SteadySamples create(RecorderOptions o) {
        String given = o.get("steady-samples.threshold-millis");
        return new SteadySamples(given.length() == 0 ? 0 : Long.parseLong(given) * MILLI,
                o.number("steady-samples.interval-millis") * MILLI);
    }

    int samples() {
        return samples;
    }

    @Override
    void begin() {
        thresholdNanos = givenThreshold != 0 ? givenThreshold : environment().recorder.slowMillis() * MILLI;
        forget(0);
    }

    @Override
    void end() {
        forget(0);
    }

    private void forget(long next) {
        watched = next;
        incident = null;
        entries.clear();
        late = 0;
        left = 0;
        nextSample = 0;
    }

    @Override
    long look(long now) {
        LoopAccess loop = environment().loop;
        long since = loop.runningSince();
        if (since != watched) {
            ended(now);
            forget(since);
        }
        long armNanos = thresholdNanos / 5 * 4;
        if (since == 0) {
            return now + Math.min(armNanos, BEAT_NANOS);
        }
        long from = Math.max(since, steadySince());
        if (now < from + armNanos) {
            return Math.min(from + armNanos, now + BEAT_NANOS);
        }
        if (now >= nextSample) {
            sample(now, since);
        }
        if (incident == null && now >= from + thresholdNanos && !entries.isEmpty()) {
            incident = environment().incident("samples").begin(since);
            count();
            report(loop.trace().messageAt(since));
        }
        long threshold = incident == null ? from + thresholdNanos : Long.MAX_VALUE;
        return Math.min(now + BEAT_NANOS, Math.min(nextSample, threshold));
    }

    private void sample(long now, long since) {
        LoopAccess loop = environment().loop;
        ThreadStack s = ThreadStack.of(loop.thread(), environment().recorder.platform());
        if (loop.runningSince() != since) {
            return;
        }
        if (nextSample != 0 && now - lastSample > intervalNanos / 100 * BUSY_PERCENT) {
            late++;
        }
        lastSample = now;
        // At a fixed interval, unless this one is late by more than that.
        nextSample = nextSample == 0 || now - nextSample >= intervalNanos ? now + intervalNanos
                : nextSample + intervalNanos;
        Entry e = entries.get(s.frames);
        if (e == null) {
            e = new Entry(s);
            entries.put(s.frames, e);
            if (entries.size() > MAX_STACKS) {
                entries.remove(entries.keySet().iterator().next());
                left++;
            }
        }
        e.count++;
        samples++;
    }

    /** Reports the message that was watched as it is known at its end, if it was slow. */
    private void ended(long now) {
        if (watched == 0 || entries.isEmpty()) {
            return;
        }
        MessageRecord m = environment().loop.trace().messageAt(watched);
        if (incident == null && m != null && m.wallNanos >= thresholdNanos && steadySince() <= watched) {
            // It ended before this thread could look again.
            incident = environment().incident("samples").begin(watched);
            count();
        }
        if (incident != null) {
            incident.end(now);
            report(m);
        }
    }

    private void report(MessageRecord message) {
        List<ThreadStack> stacks = new ArrayList<ThreadStack>();
        StringBuilder counts = new StringBuilder();
        int all = 0;
        for (Map.Entry<List<StackTraceElement>, Entry> e : entries.entrySet()) {
            stacks.add(e.getValue().first);
            counts.append(counts.length() == 0 ? "" : ",").append(e.getValue().count);
            all += e.getValue().count;
        }
        incident.message(message).stacks(stacks).fact("interval-millis", intervalNanos / MILLI).fact("samples", all)
                .fact("counts", counts).fact("late-samples", late);
        if (left > 0) {
            incident.fact("stacks-left-out", left);
        }
        incident.report();
    }
}
