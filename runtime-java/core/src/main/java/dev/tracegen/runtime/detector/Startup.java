package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Incident;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The detector {@code startup}: reports every start of the app with its steps, and the slow ones with the records of
 * the main thread. {@link Starts} finds them on the main thread; this only reports.
 */
public final class Startup extends Detector {
    /** Where starts come from. */
    public abstract static class Source {
        /** Creates a source. */
        protected Source() {
        }

        /**
         * Begins to call {@link Startup#ended}, also for starts that have ended before the recorder was started.
         *
         * @param startup the detector
         */
        protected abstract void start(Startup startup);

        /** Ends calling it. */
        protected abstract void stop();

        /**
         * Returns what is known of how the application began.
         *
         * @return {@code start-call}, {@code first-call}, or {@code not known: ...}
         */
        protected abstract String applicationBegin();

        /**
         * Returns what the system says of the last start of this process. May call another process.
         *
         * @param beginNanos when the start began, in {@link dev.tracegen.runtime.Platform#nanoTime}
         * @return facts by their keys; null if the system says nothing
         */
        protected abstract @Nullable Map<String, String> system(long beginNanos);
    }

    /** The system completes its facts of a start some time after the first frame. */
    private static final long SYSTEM_NANOS = 3000000000L;

    private final Source source;
    private final long coldNanos;
    private final long warmNanos;
    private final long hotNanos;
    private volatile Environment environment;

    /**
     * Creates a detector that is off.
     *
     * @param source where starts come from
     * @param coldMillis from here on a cold start is slow
     * @param warmMillis from here on a warm start is slow
     * @param hotMillis from here on a hot start is slow
     */
    public Startup(Source source, long coldMillis, long warmMillis, long hotMillis) {
        super("startup");
        this.source = source;
        this.coldNanos = coldMillis * 1000000L;
        this.warmNanos = warmMillis * 1000000L;
        this.hotNanos = hotMillis * 1000000L;
    }

    @Override
    protected void start(Environment e) {
        environment = e;
        source.start(this);
    }

    @Override
    protected void stop() {
        environment = null;
        source.stop();
    }

    /**
     * Reports a start. On any thread.
     *
     * @param start the start
     */
    public void ended(final Start start) {
        final Environment e = environment;
        if (e != null) {
            e.at(e.nanoTime(), new Runnable() {
                @Override
                public void run() {
                    report(e, start);
                }
            });
        }
    }

    private long limit(Start s) {
        return s.type == Start.Type.COLD ? coldNanos : s.type == Start.Type.WARM ? warmNanos : hotNanos;
    }

    private void report(final Environment e, final Start s) {
        if (e.recorder.platform().debuggerAttached()) {
            return;
        }
        final Incident.Builder b = e.incident("startup").what(s.activity).begin(s.beginNanos).end(s.focusNanos)
                .scene(s.activity);
        boolean slow = s.ownNanos() >= limit(s);
        b.fact("type", s.type.name().toLowerCase(Locale.ROOT)).fact("slow", slow);
        b.fact("limit-millis", FrameStatistics.millis(limit(s)));
        if (s.type == Start.Type.COLD) {
            b.fact("process-millis", s.processKnown ? FrameStatistics.millis(s.processNanos()) : null);
            b.fact("application-millis", FrameStatistics.millis(s.applicationStepNanos()));
            b.fact("process-begin", s.processKnown ? "system" : "not known");
            b.fact("application-begin", source.applicationBegin());
        }
        b.fact("first-activity-millis", FrameStatistics.millis(s.activityNanos()));
        b.fact("first-activity-begin", s.launchKnown ? "message" : "callback");
        b.fact("away-millis", s.awayNanos == 0 ? null : FrameStatistics.millis(s.awayNanos));
        b.fact("splashes", s.splashes == 0 ? null : s.splashes);
        b.fact("process-for-other", s.processForOther ? "true" : null);
        if (slow) {
            b.records(s.firstRecord, s.endRecord);
        }
        b.report();
        if (s.type == Start.Type.COLD) {
            e.at(e.nanoTime() + SYSTEM_NANOS, new Runnable() {
                @Override
                public void run() {
                    Map<String, String> facts = source.system(s.beginNanos);
                    if (facts != null) {
                        for (Map.Entry<String, String> f : facts.entrySet()) {
                            b.fact(f.getKey(), f.getValue());
                        }
                        b.report();
                    }
                }
            });
        }
    }
}
