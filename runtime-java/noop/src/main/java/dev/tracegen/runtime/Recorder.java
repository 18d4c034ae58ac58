package dev.tracegen.runtime;

/** Records nothing. */
public final class Recorder {
    private static volatile Recorder current;

    private Recorder() {
    }

    /**
     * Starts nothing.
     *
     * @param options ignored
     * @return a recorder that does nothing
     */
    public static synchronized Recorder start(RecorderOptions options) {
        if (current == null) {
            current = new Recorder();
        }
        return current;
    }

    /**
     * The recorder that {@link #start} gave.
     *
     * @return null if there is none
     */
    public static Recorder current() {
        return current;
    }

    /** Does nothing. */
    public void stop() {
    }

    /**
     * A trace that does nothing.
     *
     * @param thread the thread
     * @return one of its own for every call
     */
    public ThreadTrace thread(Thread thread) {
        return new ThreadTrace(thread.getName());
    }

    /**
     * Does nothing.
     *
     * @param listener ignored
     */
    public static void setMethodEnterListener(MethodEnterListener listener) {
    }

    /**
     * Does nothing.
     *
     * @param listener ignored
     */
    public static void setStallListener(StallListener listener) {
    }

    /**
     * Does nothing.
     *
     * @param listener ignored
     */
    public static void setFocusListener(FocusListener listener) {
    }

    /**
     * Does nothing.
     *
     * @param name ignored
     */
    public void scene(String name) {
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     */
    public void foreground(boolean value) {
    }
}
