package dev.tracegen.runtime.report;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.Stall;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The report of one stall or incident. That of the no-op is empty. */
public final class Report {
    /** The greatest size of a report in bytes of UTF-8. */
    public static final int MAX_BYTES = 256 << 10;

    /** The ID. */
    public final String id = "";

    /** The kind of the stall or incident. */
    public final String kind = "";

    /** Equal for reports of the same cause. */
    public final String key = "";

    /** Whether it has ended. */
    public final boolean ended = false;

    private Report() {
    }

    @Override
    public String toString() {
        return "{}";
    }

    /**
     * Returns an empty report.
     *
     * @param stall ignored
     * @param recorder ignored
     * @param about ignored
     * @param machine ignored
     * @return an empty report
     */
    public static Report of(Stall stall, Recorder recorder, About about, @Nullable Map<String, ?> machine) {
        return new Report();
    }

    /**
     * Returns an empty report.
     *
     * @param incident ignored
     * @param recorder ignored
     * @param about ignored
     * @param machine ignored
     * @return an empty report
     */
    public static Report of(Incident incident, Recorder recorder, About about, @Nullable Map<String, ?> machine) {
        return new Report();
    }
}
