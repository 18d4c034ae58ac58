package dev.tracegen.runtime.android;

import android.app.Activity;
import android.app.Application;
import android.os.Bundle;
import dev.tracegen.runtime.Recorder;

/**
 * Reports to the recorder whether the app is in the foreground: whether any activity is started. It also wraps the
 * windows of started activities if input events are recorded.
 */
final class Foreground implements Application.ActivityLifecycleCallbacks {
    private final Recorder recorder;
    private final InputEvents inputEvents;
    private int started;

    /**
     * Creates the callbacks.
     *
     * @param inputEvents null if input events are not recorded
     */
    Foreground(Recorder recorder, InputEvents inputEvents) {
        this.recorder = recorder;
        this.inputEvents = inputEvents;
    }

    @Override
    public void onActivityStarted(Activity activity) {
        started++;
        recorder.foreground(true);
        if (inputEvents != null) {
            inputEvents.watch(activity);
        }
    }

    @Override
    public void onActivityStopped(Activity activity) {
        // Activities may have been started before the recorder.
        started = Math.max(0, started - 1);
        recorder.foreground(started > 0);
    }

    @Override
    public void onActivityCreated(Activity activity, Bundle state) {
    }

    @Override
    public void onActivityResumed(Activity activity) {
    }

    @Override
    public void onActivityPaused(Activity activity) {
    }

    @Override
    public void onActivitySaveInstanceState(Activity activity, Bundle state) {
    }

    @Override
    public void onActivityDestroyed(Activity activity) {
    }
}
