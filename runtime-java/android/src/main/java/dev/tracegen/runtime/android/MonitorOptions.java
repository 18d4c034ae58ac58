package dev.tracegen.runtime.android;

/** The options of a {@link LooperMonitor}. The setters return this object. */
public final class MonitorOptions {
    /** The Looper's {@code Observer} if Android lets it be set, else the {@code Printer}. */
    public static final int AUTO = 0;

    /**
     * The Looper's {@code Printer}. The text of a message is known from its begin and costs the Looper two strings.
     */
    public static final int PRINTER = 1;

    int source = AUTO;
    int checkMillis = 60000;
    boolean idleHandlers = true;
    boolean hiddenApi = true;

    /** Creates the default options. */
    public MonitorOptions() {
    }

    /**
     * Sets what reports the messages.
     *
     * @param value {@link #PRINTER}, or {@link #AUTO}, which is the default
     * @return this
     */
    public MonitorOptions source(int value) {
        source = value;
        return this;
    }

    /**
     * Sets how often the monitor checks whether other code has replaced its observer or printer. It checks when the
     * queue is idle.
     *
     * @param value milliseconds, 60,000 if not set; 0 checks whenever the queue is idle
     * @return this
     */
    public MonitorOptions checkMillis(int value) {
        checkMillis = Math.max(0, value);
        return this;
    }

    /**
     * Sets whether listeners are called for IdleHandlers as for messages.
     *
     * @param value true if not set
     * @return this
     */
    public MonitorOptions idleHandlers(boolean value) {
        idleHandlers = value;
        return this;
    }

    /**
     * Sets whether members of Android that are not public API may be used, by reflection. Without them there is only
     * the {@code Printer}: IdleHandlers are not reported, the messages that wait in the queue are not known, and the
     * monitor does not detect that other code has replaced its printer. A printer of other code that is there before
     * is left in place; then no messages are reported.
     *
     * @param value true if not set
     * @return this
     */
    public MonitorOptions hiddenApi(boolean value) {
        hiddenApi = value;
        return this;
    }
}
