package dev.tracegen.runtime;

import org.jspecify.annotations.Nullable;

/** The class that instrumented methods call. All methods do nothing. */
public final class AppMethodBeat {
    /** The ID that stands for the dispatch of a message. Methods have IDs from 1 to this less 1. */
    public static final int METHOD_ID_DISPATCH = 0xFFFFE;

    /** {@link #status}: the only state of the no-op. */
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
    public static void at(android.app.@Nullable Activity activity, boolean hasFocus) {
    }

    /**
     * Does nothing.
     *
     * @param target ignored
     * @param posted ignored
     * @param id ignored
     */
    public static void posted(@Nullable Object target, @Nullable Object posted, int id) {
    }

    /**
     * Does nothing.
     *
     * @param target ignored
     * @param what ignored
     * @param id ignored
     */
    public static void posted(@Nullable Object target, int what, int id) {
    }

    /**
     * Returns the state of the recorder.
     *
     * @return {@link #STATUS_DEFAULT}
     */
    public static int status() {
        return STATUS_DEFAULT;
    }
}
