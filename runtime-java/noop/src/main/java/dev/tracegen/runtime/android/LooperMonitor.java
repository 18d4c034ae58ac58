package dev.tracegen.runtime.android;

import android.os.Looper;

/** A monitor that watches nothing and calls no listener. */
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
     * Returns what reports the messages to the monitor.
     *
     * @return {@code nothing}
     */
    public String source() {
        return "nothing";
    }

    /**
     * Returns how often the monitor was installed again.
     *
     * @return 0
     */
    public int reinstalls() {
        return 0;
    }

    /**
     * Reports whether listeners are called for IdleHandlers.
     *
     * @return false
     */
    public boolean reportsIdleHandlers() {
        return false;
    }

    /**
     * Reports whether a replaced observer or printer is detected.
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
