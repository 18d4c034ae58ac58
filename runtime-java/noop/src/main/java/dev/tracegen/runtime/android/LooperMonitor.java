package dev.tracegen.runtime.android;

import android.os.Looper;

/** Watches nothing, and tells nobody. */
public final class LooperMonitor {
    private static final LooperMonitor ONLY = new LooperMonitor();

    private LooperMonitor() {
    }

    /**
     * A monitor that watches nothing.
     *
     * @param looper ignored
     * @return the same object for all
     */
    public static LooperMonitor of(Looper looper) {
        return ONLY;
    }

    /**
     * A monitor that watches nothing.
     *
     * @param looper ignored
     * @param options ignored
     * @return the same object for all
     */
    public static LooperMonitor of(Looper looper, MonitorOptions options) {
        return ONLY;
    }

    /**
     * Does nothing.
     *
     * @param listener ignored
     */
    public void add(DispatchListener listener) {
    }

    /**
     * Does nothing.
     *
     * @param listener ignored
     */
    public void remove(DispatchListener listener) {
    }

    /**
     * What the monitor hears by.
     *
     * @return {@code nothing}
     */
    public String source() {
        return "nothing";
    }

    /**
     * How often the monitor's place was won back.
     *
     * @return 0
     */
    public int reinstalls() {
        return 0;
    }

    /**
     * Whether idle handlers are told of.
     *
     * @return false
     */
    public boolean reportsIdleHandlers() {
        return false;
    }

    /**
     * Whether a printer that somebody else sets can be noticed.
     *
     * @return false
     */
    public boolean detectsReplacement() {
        return false;
    }

    /** Does nothing. */
    public void release() {
    }
}
