package android.app;

import android.os.Handler;

/** What Matrix reads of it by reflection. */
public final class ActivityThread {
    private static volatile ActivityThread sCurrentActivityThread = new ActivityThread();

    final H mH = new H();

    /** Its superclass is where Matrix looks for the callback. */
    private static final class H extends Handler {
    }

    private ActivityThread() {
    }
}
