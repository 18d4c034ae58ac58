package dev.tracegen.runtime.android;

/** How a {@link LooperMonitor} watches. The setters return this object. */
public final class MonitorOptions {
    /** The {@code Observer} where Android lets it be set, else the {@code Printer}. */
    public static final int AUTO = 0;

    /** The {@code Printer}: the text of a message is known from its begin, and costs the looper two strings. */
    public static final int PRINTER = 1;

    int source = AUTO;
    int checkMillis = 60000;
    boolean idleHandlers = true;

    /** The defaults. */
    public MonitorOptions() {
    }

    /**
     * What to hear by.
     *
     * @param value {@link #AUTO} if not set, or {@link #PRINTER}
     * @return this
     */
    public MonitorOptions source(int value) {
        source = value;
        return this;
    }

    /**
     * How often the monitor looks whether somebody has taken its place. It does so when the queue is idle anyway.
     *
     * @param value milliseconds, 60,000 if not set; 0 for each time
     * @return this
     */
    public MonitorOptions checkMillis(int value) {
        checkMillis = Math.max(0, value);
        return this;
    }

    /**
     * Whether idle handlers are told of like messages.
     *
     * @param value true if not set
     * @return this
     */
    public MonitorOptions idleHandlers(boolean value) {
        idleHandlers = value;
        return this;
    }
}
