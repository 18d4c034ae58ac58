package dev.tracegen.runtime.android;

import android.app.Activity;
import android.app.ActivityManager;
import android.app.Application;
import android.content.Context;
import android.os.Bundle;
import android.os.Handler;
import android.os.Looper;
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
final class Foreground implements Application.ActivityLifecycleCallbacks {
    /** How often the importance is read again while it decides: a process that a broadcast started may keep none. */
    private static final long GUESS_NANOS = 30000000000L;

    private final Context context;

    /** The activities that are started now. Used by the main thread only. */
    private final IdentityHashMap<Activity, Boolean> started = new IdentityHashMap<Activity, Boolean>();

    private volatile long guessNanos;

    // Guarded by this.
    private Application application;
    private boolean unregistered;
    private Recorder recorder;
    private boolean foreground;
    private boolean called;

    Foreground(Context context) {
        this.context = context;
    }

    /**
     * Registers the callbacks, or posts a message to the main thread that does: in {@code attachBaseContext} the
     * Application is known only if it is the Context itself.
     */
    void register() {
        if (!registerNow()) {
            new Handler(Looper.getMainLooper()).postAtFrontOfQueue(new Runnable() {
                @Override
                public void run() {
                    registerNow();
                }
            });
        }
    }

    private boolean registerNow() {
        Context app = context instanceof Application ? context : context.getApplicationContext();
        if (!(app instanceof Application)) {
            return false;
        }
        synchronized (this) {
            if (!unregistered) {
                application = (Application) app;
                application.registerActivityLifecycleCallbacks(this);
            }
        }
        return true;
    }

    synchronized void unregister() {
        unregistered = true;
        if (application != null) {
            application.unregisterActivityLifecycleCallbacks(this);
        }
    }

    /** Reports to a recorder from now on. */
    synchronized void report(Recorder to) {
        recorder = to;
        to.foreground(foreground);
    }

    /** Lets the importance of the process decide, if no callback was called yet. Calls another process. */
    void guess() {
        guessNanos = System.nanoTime();
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

    /** Returns a listener that reads the importance again from time to time, while it decides. */
    DispatchListener idleListener() {
        return new DispatchListener() {
            @Override
            public void queueIdle() {
                if (isGuess() && System.nanoTime() - guessNanos > GUESS_NANOS) {
                    guessNanos = System.nanoTime();
                    Background.run(new Runnable() {
                        @Override
                        public void run() {
                            guess();
                        }
                    });
                }
            }
        };
    }

    /** Reports whether the app is in the foreground, as the recorder has it. */
    synchronized boolean isForeground() {
        return foreground;
    }

    private synchronized boolean isGuess() {
        return !called && foreground;
    }

    /** Wraps the windows of the activities that are started now. On the main thread. */
    void watchInputEvents() {
        for (Activity activity : new ArrayList<Activity>(started.keySet())) {
            InputEvents.watch(activity);
        }
    }

    private void isStarted(Activity activity) {
        started.put(activity, true);
        callback();
        InputEvents.watch(activity);
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

    @Override
    public void onActivityStarted(Activity activity) {
        isStarted(activity);
    }

    @Override
    public void onActivityResumed(Activity activity) {
        // It was started, perhaps before the callbacks were registered.
        isStarted(activity);
    }

    @Override
    public void onActivityPaused(Activity activity) {
        isStarted(activity);
    }

    @Override
    public void onActivityStopped(Activity activity) {
        started.remove(activity);
        callback();
    }

    @Override
    public void onActivityDestroyed(Activity activity) {
        if (started.remove(activity) != null) {
            callback();
        }
    }

    @Override
    public void onActivityCreated(Activity activity, Bundle state) {
    }

    @Override
    public void onActivitySaveInstanceState(Activity activity, Bundle state) {
    }
}
