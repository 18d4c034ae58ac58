package dev.tracegen.runtime.android;

import android.content.Context;
import dev.tracegen.runtime.RecorderOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** How an app records. The no-op reads no file, and keeps and checks no setting. */
public final class RuntimeConfig {
    /** The name of the file that the runtime reads. */
    public static final String FILE = "tracegen-runtime.properties";

    private final RecorderOptions recorder = new RecorderOptions();
    private final MonitorOptions monitor = new MonitorOptions();

    /** Creates a configuration. */
    public RuntimeConfig() {
    }

    /**
     * Reads nothing.
     *
     * @param context ignored
     * @return a new object
     */
    public static RuntimeConfig read(@Nullable Context context) {
        return new RuntimeConfig();
    }

    /**
     * Does nothing.
     *
     * @param settings ignored
     * @return this
     */
    public RuntimeConfig apply(Properties settings) {
        return this;
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     * @return this
     */
    public RuntimeConfig enabled(boolean value) {
        return this;
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     * @return this
     */
    public RuntimeConfig output(@Nullable String value) {
        return this;
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     * @return this
     */
    public RuntimeConfig mapping(@Nullable String value) {
        return this;
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     * @return this
     */
    public RuntimeConfig frames(boolean value) {
        return this;
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     * @return this
     */
    public RuntimeConfig inputEvents(boolean value) {
        return this;
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     * @return this
     */
    public RuntimeConfig processStateSummary(boolean value) {
        return this;
    }

    /**
     * Does nothing.
     *
     * @param names ignored
     * @return this
     */
    public RuntimeConfig detectors(String... names) {
        return this;
    }

    /**
     * Returns options that nothing reads.
     *
     * @return never null
     */
    public RecorderOptions recorder() {
        return recorder;
    }

    /**
     * Returns options that nothing reads.
     *
     * @return never null
     */
    public MonitorOptions monitor() {
        return monitor;
    }

    /**
     * Returns no faults.
     *
     * @return a new empty list
     */
    public List<String> problems() {
        return new ArrayList<String>();
    }
}
