package dev.tracegen.runtime.android;

import android.content.Context;
import android.os.Looper;
import android.view.Window;

/** Starts and stops recording in an app. In the no-op all methods do nothing. */
public final class TracegenRuntime {
    private TracegenRuntime() {
    }

    /**
     * Does nothing and reads no file.
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
     * @return false
     */
    public static boolean watch(Looper looper) {
        return false;
    }

    /**
     * Watches nothing.
     *
     * @param window ignored
     * @return false
     */
    public static boolean watchWindow(Window window) {
        return false;
    }

    /**
     * Switches nothing.
     *
     * @param name ignored
     * @param on ignored
     * @return false
     */
    public static boolean detector(String name, boolean on) {
        return false;
    }

    /**
     * Does nothing.
     *
     * @param context ignored
     * @param minutes ignored
     */
    public static void enableFor(Context context, int minutes) {
    }
}
