package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.ThreadStack;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reports an incident {@code touch-lag} if the app answers an input event late. The native library notes when
 * libinput.so receives an event and when it sends the answer; this class reads that at times and never waits for it.
 *
 * <p>An event counts from its receipt. While the main thread is blocked and does not receive at all, the events wait
 * in the socket, and are not seen here. The Looper's monitor sees that.
 */
public final class NativeTouch extends Detector {
    /** The name of the detector. */
    public static final String NAME = "native-touch";

    private final TouchSource source;
    private final long slowNanos;
    private final long[] events = new long[3 * TouchSource.EVENTS];
    private final Map<Long, Lag> lags = new HashMap<Long, Lag>();

    private Environment environment;

    /** Events count from here on, because the process was frozen before, or because a lag has ended. */
    private long countFrom;
    private long due;

    /** An incident that has not ended, of one connection. */
    private static final class Lag {
        final long begin;
        final Incident.Builder incident;
        long end;
        boolean waits;

        Lag(long begin, Incident.Builder incident) {
            this.begin = begin;
            this.incident = incident;
        }
    }

    /**
     * Creates a detector that is off. It loads the native library when it is switched on, not before.
     *
     * @param o {@code native-touch.slow-millis} is the time from which an answer is late
     */
    public NativeTouch(RecorderOptions o) {
        this(o, new TouchSource.Hook());
    }

    NativeTouch(RecorderOptions o, TouchSource source) {
        super(NAME);
        this.slowNanos = o.number("native-touch.slow-millis") * 1000000L;
        this.source = source;
    }

    /** Installs the hook, because only that shows whether it is possible. {@link #start} follows, or nothing. */
    @Override
    public @Nullable String unavailable() {
        return source.install(slowNanos);
    }

    @Override
    protected void start(Environment e) {
        environment = e;
        countFrom = 0;
        source.late(events); // Those of an earlier time.
        poll(e.nanoTime());
    }

    @Override
    protected void stop() {
        source.remove();
        lags.clear();
    }

    private void poll(long nanos) {
        due = nanos;
        environment.at(nanos, new Runnable() {
            @Override
            public void run() {
                look();
            }
        });
    }

    private void look() {
        long now = environment.nanoTime();
        if (now - due > slowNanos / 2) {
            countFrom = now; // This thread did not run, so perhaps the main thread did not either.
        }
        for (Lag lag : lags.values()) {
            lag.waits = false;
        }
        long next = now + Math.max(1, slowNanos / 2);
        int n = source.pending(events);
        for (int k = 0; k < n; k++) {
            long begin = events[3 * k + 2];
            Lag lag = lags.get(events[3 * k]);
            if (lag != null) {
                lag.waits |= lag.begin == begin;
                continue;
            }
            long dueLag = Math.max(begin, countFrom) + slowNanos;
            if (dueLag <= now) {
                lags.put(events[3 * k], find(events[3 * k], begin));
            } else {
                next = Math.min(next, dueLag);
            }
        }
        end(now);
        poll(next);
    }

    private Lag find(long fd, long begin) {
        Incident.Builder incident = environment.incident("touch-lag").begin(begin).fact("connection", fd)
                .fact("slots", source.slots()).fact("understood", source.flags() == 0 ? null : "not all messages");
        incident.stack(ThreadStack.of(environment.loop.thread(), environment.recorder.platform()));
        incident.report();
        Lag lag = new Lag(begin, incident);
        lag.waits = true;
        return lag;
    }

    /** Reports the lags of which the event does not wait any more. */
    private void end(long now) {
        int n = source.late(events);
        for (int k = 0; k < n; k++) {
            Lag lag = lags.get(events[3 * k]);
            if (lag != null && lag.begin == events[3 * k + 1]) {
                lag.end = events[3 * k + 2];
            }
        }
        Iterator<Lag> all = lags.values().iterator();
        while (all.hasNext()) {
            Lag lag = all.next();
            if (!lag.waits) {
                all.remove();
                // Without an answer the connection was closed.
                lag.incident.end(lag.end == 0 ? now : lag.end).fact("answered", lag.end != 0).report();
                // Events that came meanwhile waited for the same reason.
                countFrom = Math.max(countFrom, lag.end == 0 ? now : lag.end);
            }
        }
    }
}
