package dev.tracegen.runtime.android;

import android.content.Context;
import android.view.Display;

/**
 * The refresh rate of the display. Panels change it while the app runs, so it is read again, at most once a second:
 * older versions of Android ask another process.
 */
final class Refresh {
    private static final long READ_NANOS = 1000000000L;

    private final Display display;
    private boolean read;
    private long readNanos;
    private float hz;

    Refresh(Display display) {
        this.display = display;
    }

    /**
     * Returns the rate of the default display. A {@code WindowManager} would return the display too, but
     * {@code StrictMode} reports that an Application asks for one.
     */
    static Refresh of(Context context) {
        try {
            // android.hardware.display.DisplayManager, public since Android 4.2.
            Object manager = context.getSystemService("display");
            return new Refresh((Display) manager.getClass().getMethod("getDisplay", int.class)
                    .invoke(manager, Display.DEFAULT_DISPLAY));
        } catch (Throwable e) {
            return new Refresh(null);
        }
    }

    /**
     * Returns the rate.
     *
     * @param now {@code System.nanoTime()}
     * @return Hz, 0 if unknown
     */
    float hz(long now) {
        if (display != null && (!read || now - readNanos >= READ_NANOS)) {
            read = true;
            readNanos = now;
            try {
                hz = display.getRefreshRate();
            } catch (Throwable e) {
                // The one from before.
            }
        }
        return hz;
    }
}
