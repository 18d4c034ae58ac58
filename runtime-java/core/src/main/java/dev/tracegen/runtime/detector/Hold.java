package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.ThreadStack;

/**
 * The detector {@code hold}: takes one stack of the Looper's thread when a message has run for a fixed time.
 *
 * <p>No work is posted or cancelled for a message. The detector looks at the begin of the running message at least once
 * in that time, so it sees each message that runs for so long before it is due, and then wakes exactly when it is. The
 * stack is late only by what the detectors' thread is late.
 */
public final class Hold extends Watcher {
    private final long holdNanos;
    private Incident.Builder incident;

    /** The begin of the message that was reported last. */
    private long reported;

    private Hold(long holdNanos) {
        super("hold");
        this.holdNanos = holdNanos;
    }

    /**
     * Returns the detector.
     *
     * @param o {@code hold.millis}
     * @return a new detector, which is off
     */
    public static Hold create(RecorderOptions o) {
        return new Hold(o.number("hold.millis") * MILLI);
    }

    @Override
    void begin() {
        incident = null;
        reported = 0;
    }

    @Override
    void end() {
        incident = null;
    }

    @Override
    long look(long now) {
        LoopAccess loop = environment().loop;
        long since = loop.runningSince();
        if (incident != null && since != reported) {
            incident.end(now).message(loop.trace().messageAt(reported)).report();
            incident = null;
        }
        if (since == 0) {
            return now + Math.min(holdNanos, BEAT_NANOS);
        }
        if (since == reported) {
            return now + BEAT_NANOS;
        }
        long limit = Math.max(since, steadySince()) + holdNanos;
        if (now < limit) {
            return Math.min(limit, now + BEAT_NANOS);
        }
        ThreadStack stack = ThreadStack.of(loop.thread(), environment().recorder.platform());
        if (loop.runningSince() != since) {
            return now;
        }
        reported = since;
        incident = environment().incident("hold").begin(since).message(loop.trace().messageAt(since)).stack(stack)
                .fact("hold-millis", holdNanos / MILLI);
        count();
        incident.report();
        return now + BEAT_NANOS;
    }
}
