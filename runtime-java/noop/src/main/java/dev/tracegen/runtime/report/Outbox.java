package dev.tracegen.runtime.report;

import java.io.File;
import java.util.Collections;
import java.util.Map;

/** The reports that wait on the device to be sent. The no-op has none and accesses no file. */
public final class Outbox {
    /** For {@link OutboxLimits}, which is that of the runtime. */
    static final int OVERHEAD = 0;

    /**
     * Creates an outbox.
     *
     * @param directory ignored
     * @param process ignored
     * @param limits ignored
     */
    public Outbox(File directory, String process, OutboxLimits limits) {
    }

    /**
     * Returns the number of this installation.
     *
     * @return 1
     */
    public long installation() {
        return 1;
    }

    /**
     * Does nothing.
     *
     * @param report ignored
     * @param fraction ignored
     * @param wallMillis ignored
     * @return false
     */
    public boolean add(Report report, double fraction, long wallMillis) {
        return false;
    }

    /**
     * Returns how many reports were lost.
     *
     * @return an empty map
     */
    public Map<String, Long> totals() {
        return Collections.emptyMap();
    }
}
