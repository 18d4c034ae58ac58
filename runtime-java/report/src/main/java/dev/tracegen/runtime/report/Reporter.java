package dev.tracegen.runtime.report;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.IncidentListener;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import org.jspecify.annotations.Nullable;

/**
 * Writes a report of each stall and incident into an outbox. The recorder calls it on the thread that delivers them, so
 * it may write files. Texts are redacted by then.
 */
public final class Reporter implements StallListener, IncidentListener {

    private final Recorder recorder;
    private final Outbox outbox;
    private final About about;
    private volatile Sampling sampling = Sampling.ALL;
    private volatile @Nullable Sender sender;

    /**
     * Creates a reporter. It is called after {@code Recorder.setReporter(reporter, reporter)}.
     *
     * @param outbox where reports are written
     */
    public Reporter(Recorder recorder, Outbox outbox, About about) {
        this.recorder = recorder;
        this.outbox = outbox;
        this.about = about;
    }

    /**
     * Sets which reports this installation sends. May be called at any time.
     *
     * @param value {@link Sampling#ALL} if not set
     */
    public Reporter sampling(Sampling value) {
        sampling = value;
        return this;
    }

    /**
     * Sets the sender that is woken when a report was written.
     *
     * @param value null for none, which is the default
     */
    public Reporter sender(@Nullable Sender value) {
        sender = value;
        return this;
    }

    @Override
    public void stallEnded(Stall stall) {
        String kind = Report.kind(stall);
        Sampling s = sampling;
        if (s.takes(kind, outbox.installation())) {
            add(Report.of(stall, recorder, about), s.of(kind));
        }
    }

    @Override
    public void incidentFound(Incident incident) {
        Sampling s = sampling;
        if (s.takes(incident.kind, outbox.installation())) {
            add(Report.of(incident, recorder, about), s.of(incident.kind));
        }
    }

    private void add(Report report, double fraction) {
        Sender s = sender;
        if (outbox.add(report, fraction, recorder.platform().wallMillis()) && s != null) {
            s.wake();
        }
    }
}
