package dev.tracegen.runtime.android;

import android.app.Activity;
import android.app.Application;
import android.os.Bundle;
import dev.tracegen.runtime.Recorder;

/**
 * Hears of activities: tells the recorder whether any is started, which is what being in the foreground means here, and
 * has their input marked.
 */
final class Foreground implements Application.ActivityLifecycleCallbacks {
    private final Recorder recorder;
    private final InputEvents inputEvents;
    private int started;

    /**
     * Nothing yet.
     *
     * @param inputEvents null if input is not to be marked
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
        // The app may have been started before we were.
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
