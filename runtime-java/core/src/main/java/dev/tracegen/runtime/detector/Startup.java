package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Incident;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The detector {@code startup}: reports every start of the app with its steps, and the slow ones with the records of
 * the main thread. {@link Starts} finds them on the main thread; this only reports.
 */
public final class Startup extends Detector {
    /** Where starts come from. */
    public interface Source {
        /**
         * Calls {@link Startup#ended} of a detector from now on, also for starts that ended before a detector was
         * there; of none if it is null.
         */
        void report(@Nullable Startup startup);
    }

    private final Source source;
    private final long coldNanos;
    private final long warmNanos;
    private final long hotNanos;
    private volatile Environment environment;

    /**
     * Creates a detector that is off.
     *
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
        source.report(this);
    }

    @Override
    protected void stop() {
        environment = null;
        source.report(null);
    }

    /** Reports a start. On any thread. */
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

    private void report(Environment e, Start s) {
        if (e.recorder.platform().debuggerAttached()) {
            return;
        }
        Incident.Builder b = e.incident("startup").what(s.activity).begin(s.beginNanos).end(s.focusNanos)
                .scene(s.activity);
        boolean slow = s.ownNanos() >= limit(s);
        b.fact("type", s.type.name().toLowerCase(Locale.ROOT)).fact("slow", slow);
        b.fact("limit-millis", FrameStatistics.millis(limit(s)));
        if (s.type == Start.Type.COLD) {
            b.fact("process-millis", s.processKnown ? FrameStatistics.millis(s.processNanos()) : null);
            b.fact("application-millis", FrameStatistics.millis(s.applicationStepNanos()));
        }
        b.fact("first-activity-millis", FrameStatistics.millis(s.activityNanos()));
        b.fact("away-millis", s.awayNanos == 0 ? null : FrameStatistics.millis(s.awayNanos));
        b.fact("process-for-other", s.processForOther ? "true" : null);
        if (slow) {
            b.records(s.firstRecord, s.endRecord);
        }
        b.report();
    }
}
