package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.ThreadStack;

/**
 * The detector {@code watchdog}: posts a tick to the Looper and checks later whether it has run.
 *
 * <p>A stall is found only if a tick was posted while it lasted and a poll of length a passed before it ended. The
 * first tick within a stall of length x comes u after its begin, and u is anything from 0 to a with the same
 * probability. So the stall is found if u + a &lt;= x, with the probability x/a - 1 for a &lt;= x &lt;= 2 a, 0 below
 * and 1 above: a stall of 1.25 times the poll is found in a quarter of cases.
 *
 * <p>At most one tick waits in the queue. After a report there is no other one before the tick has run.
 */
public final class Watchdog extends Watcher {
    private final long pollNanos;
    private Tick tick;
    private Incident.Builder incident;

    /** What runs on the Looper's thread. */
    private static final class Tick implements Runnable {
        private final Environment environment;
        final long posted;

        /** When it has run, 0 if it has not. */
        volatile long answered;

        Tick(Environment environment, long posted) {
            this.environment = environment;
            this.posted = posted;
        }

        @Override
        public void run() {
            long now = posted;
            try {
                now = environment.nanoTime();
            } catch (Throwable e) {
                // Nothing may be thrown into the app.
            }
            answered = now;
        }
    }

    /**
     * Creates a detector that is off.
     *
     * @param o {@code watchdog.poll-millis}
     */
    public Watchdog(RecorderOptions o) {
        super("watchdog");
        pollNanos = o.number("watchdog.poll-millis") * MILLI;
    }

    @Override
    void begin() {
        tick = null;
        incident = null;
    }

    @Override
    void end() {
        Tick t = tick;
        if (t != null) {
            environment().loop.remove(t);
        }
        tick = null;
    }

    @Override
    long look(long now) {
        Tick t = tick;
        if (t != null && t.answered == 0) {
            return waiting(t, now);
        }
        if (incident != null) {
            incident.end(t.answered).report();
            incident = null;
        } else if (t != null && now < t.posted + pollNanos) {
            return t.posted + pollNanos;
        }
        return post(now);
    }

    private long post(long now) {
        Tick t = new Tick(environment(), now);
        if (!environment().loop.post(t, false)) {
            // The Looper has ended.
            tick = null;
            return now + pollNanos;
        }
        tick = t;
        return now + Math.min(BEAT_NANOS, pollNanos);
    }

    private long waiting(Tick t, long now) {
        if (incident != null) {
            return now + BEAT_NANOS;
        }
        long limit = Math.max(t.posted, steadySince()) + pollNanos;
        if (now < limit) {
            return Math.min(limit, now + BEAT_NANOS);
        }
        ThreadStack stack = ThreadStack.of(environment().loop.thread(), environment().recorder.platform());
        if (t.answered != 0) {
            // Meanwhile it did. The stack is that of something else.
            return now;
        }
        incident = environment().incident("missed-poll").begin(t.posted).stack(stack)
                .fact("poll-millis", pollNanos / MILLI);
        count();
        incident.report();
        return now + BEAT_NANOS;
    }
}
