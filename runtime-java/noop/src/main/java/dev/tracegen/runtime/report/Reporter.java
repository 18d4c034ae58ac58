package dev.tracegen.runtime.report;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.IncidentListener;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes a report of each stall and incident into an outbox. The no-op writes none. */
public final class Reporter implements StallListener, IncidentListener {
    /** The state of the machine. */
    public interface Machine {
        /**
         * Is never called.
         *
         * @param stall the stall; null for an incident
         * @return texts, numbers and booleans by name; null if nothing is known
         */
        @Nullable Map<String, ?> facts(@Nullable Stall stall);
    }

    /**
     * Creates a reporter.
     *
     * @param recorder ignored
     * @param outbox ignored
     * @param about ignored
     */
    public Reporter(Recorder recorder, Outbox outbox, About about) {
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     * @return this
     */
    public Reporter sampling(Sampling value) {
        return this;
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     * @return this
     */
    public Reporter machine(@Nullable Machine value) {
        return this;
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     * @return this
     */
    public Reporter sender(@Nullable Sender value) {
        return this;
    }

    @Override
    public void stallEnded(Stall stall) {
    }

    @Override
    public void incidentFound(Incident incident) {
    }
}
