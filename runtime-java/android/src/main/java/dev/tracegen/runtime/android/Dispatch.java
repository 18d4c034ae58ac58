package dev.tracegen.runtime.android;


/**
 * One run of a message or an IdleHandler. Each LooperMonitor has one object, which is valid during the call that it
 * is passed to and is reused for the next run.
 */
public final class Dispatch {
    private static final String IDLE = "IdleHandler ";

    private String text;
    private boolean idleHandler;
    private long beginNanos;
    private long endNanos;

    Dispatch() {
    }

    void begin(String text, boolean idleHandler, long nanos) {
        this.text = text;
        this.idleHandler = idleHandler;
        this.beginNanos = nanos;
        this.endNanos = 0;
    }

    void end(long nanos) {
        this.endNanos = nanos;
    }

    void clear() {
        text = null;
    }

    /** Returns the text for a run of an IdleHandler. */
    static String idleText(Object handler) {
        return IDLE + handler.getClass().getName();
    }

    /**
     * Returns the text that the Looper passes to its {@code Printer} at the begin, or {@code IdleHandler } and a class.
     */
    public String text() {
        return text;
    }

    /** Reports whether an IdleHandler runs, and not a message. */
    public boolean isIdleHandler() {
        return idleHandler;
    }

    /**
     * Returns when it began.
     *
     * @return {@code System.nanoTime()}
     */
    public long beginNanos() {
        return beginNanos;
    }

    /**
     * Returns when it ended.
     *
     * @return {@code System.nanoTime()}, 0 while it runs
     */
    public long endNanos() {
        return endNanos;
    }
}
