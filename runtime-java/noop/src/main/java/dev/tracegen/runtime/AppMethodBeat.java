package dev.tracegen.runtime;

/** What instrumented methods call. Here: nothing happens. */
public final class AppMethodBeat {
    /** The ID of a message's dispatch; methods have 1 to one less. */
    public static final int METHOD_ID_DISPATCH = 0xFFFFE;

    /** {@link #status}: nothing was called yet, and nothing ever comes of a call. */
    public static final int STATUS_DEFAULT = Integer.MAX_VALUE;

    /** {@link #status}: not in this build. */
    public static final int STATUS_READY = 1;

    /** {@link #status}: not in this build. */
    public static final int STATUS_STARTED = 2;

    /** {@link #status}: not in this build. */
    public static final int STATUS_STOPPED = -1;

    /** {@link #status}: not in this build. */
    public static final int STATUS_EXPIRED_START = -2;

    /** {@link #status}: not in this build. */
    public static final int STATUS_OUT_RELEASE = -3;

    private AppMethodBeat() {
    }

    /**
     * Does nothing.
     *
     * @param id ignored
     */
    public static void i(int id) {
    }

    /**
     * Does nothing.
     *
     * @param id ignored
     */
    public static void o(int id) {
    }

    /**
     * Does nothing.
     *
     * @param activity ignored
     * @param hasFocus ignored
     */
    public static void at(android.app.Activity activity, boolean hasFocus) {
    }

    /**
     * What the recorder is doing.
     *
     * @return {@link #STATUS_DEFAULT}
     */
    public static int status() {
        return STATUS_DEFAULT;
    }
}
