package dev.tracegen.runtime.android;

import android.content.Context;
import android.os.Looper;

/** Starts and ends recording in an app. Here: nothing is recorded. */
public final class TracegenRuntime {
    private TracegenRuntime() {
    }

    /**
     * Starts nothing, and reads no file.
     *
     * @param context ignored
     * @return false
     */
    public static boolean start(Context context) {
        return false;
    }

    /**
     * Starts nothing.
     *
     * @param context ignored
     * @param config ignored
     * @return false
     */
    public static boolean start(Context context, RuntimeConfig config) {
        return false;
    }

    /** Does nothing. */
    public static void stop() {
    }

    /**
     * Watches nothing.
     *
     * @param looper ignored
     * @return null: nothing is recorded now
     */
    public static LooperMonitor watch(Looper looper) {
        return null;
    }
}
