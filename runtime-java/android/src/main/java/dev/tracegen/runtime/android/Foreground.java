package dev.tracegen.runtime.android;

import android.app.Activity;
import android.app.ActivityManager;
import dev.tracegen.runtime.Recorder;
import java.util.ArrayList;
import java.util.IdentityHashMap;

/**
 * Reports to the recorder whether the app is in the foreground: whether any activity is started. It also wraps the
 * windows of started activities if input events are recorded.
 *
 * <p>Activities that were started before the callbacks were registered are not known. Until the first callback, the
 * importance of the process that Android reports decides.
 */
final class Foreground {
    /** The activities that are started now. Used by the main thread only. */
    private final IdentityHashMap<Activity, Boolean> started = new IdentityHashMap<Activity, Boolean>();

    // Guarded by this.
    private Recorder recorder;
    private boolean foreground;
    private boolean called;

    /** Reports to a recorder from now on. */
    synchronized void report(Recorder to) {
        recorder = to;
        to.foreground(foreground);
    }

    /** Lets the importance of the process decide, if no callback was called yet. Calls another process. */
    void guess() {
        try {
            ActivityManager.RunningAppProcessInfo info = new ActivityManager.RunningAppProcessInfo();
            ActivityManager.getMyMemoryState(info);
            boolean seen = info.importance == ActivityManager.RunningAppProcessInfo.IMPORTANCE_FOREGROUND
                    || info.importance == ActivityManager.RunningAppProcessInfo.IMPORTANCE_VISIBLE;
            synchronized (this) {
                if (!called) {
                    set(seen);
                }
            }
        } catch (Throwable e) {
            // Not known until the first callback.
        }
    }

    /** Wraps the windows of the activities that are started now. On the main thread. */
    void watchInputEvents() {
        for (Activity activity : new ArrayList<Activity>(started.keySet())) {
            InputEvents.watch(activity);
        }
    }

    /** An activity is started, or was. On the main thread. */
    void started(Activity activity) {
        started.put(activity, true);
        callback();
        InputEvents.watch(activity);
    }

    /** An activity is not started any more, if it was. On the main thread. */
    void stopped(Activity activity) {
        started.remove(activity);
        callback();
    }

    private synchronized void callback() {
        called = true;
        set(!started.isEmpty());
    }

    private synchronized void set(boolean value) {
        foreground = value;
        if (recorder != null) {
            recorder.foreground(value);
        }
    }
}
