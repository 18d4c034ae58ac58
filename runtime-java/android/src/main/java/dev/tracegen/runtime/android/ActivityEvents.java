package dev.tracegen.runtime.android;

import android.app.Activity;
import android.app.ActivityManager;
import android.app.Application;
import android.content.Context;
import android.os.Build;
import android.os.Bundle;
import android.os.Handler;
import android.os.Looper;
import android.os.Process;
import dev.tracegen.runtime.FocusListener;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.detector.Frames;
import dev.tracegen.runtime.detector.Start;
import dev.tracegen.runtime.detector.Starts;
import dev.tracegen.runtime.detector.Startup;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * What the app's activities do, for the recorder and the detectors {@code startup} and {@code frames}. It is registered
 * when the runtime is started, before the configuration is read, because the first activity may be faster. What it does
 * for each call costs next to nothing.
 */
final class ActivityEvents implements Application.ActivityLifecycleCallbacks, FocusListener, Startup.Source {
    /** How many starts wait for a detector. */
    private static final int MAX_WAITING = 4;

    private final Context context;
    private final Starts starts = new Starts();
    private final long begunNanos;

    /** The activities that are resumed. Used by the main thread only. */
    private final IdentityHashMap<Activity, Boolean> resumed = new IdentityHashMap<Activity, Boolean>();

    private volatile Frames frames;

    // Guarded by this.
    private Application application;
    private boolean unregistered;
    private Startup startup;
    private boolean wanted = true;
    private final List<Start> waiting = new ArrayList<Start>();
    private Recorder recorder;
    private boolean foreground;
    private boolean called;

    ActivityEvents(Context context) {
        this.context = context;
        this.begunNanos = System.nanoTime();
    }

    /** Begins, where the runtime is started: in {@code attachBaseContext} or {@code onCreate}, or later. */
    void register() {
        onMain(new Runnable() {
            @Override
            public void run() {
                starts.application(processStart(), begunNanos);
            }
        });
        registerNow();
        Recorder.setOwnFocusListener(this);
        new Handler(Looper.getMainLooper()).postAtFrontOfQueue(new Runnable() {
            @Override
            public void run() {
                registerNow();
                starts.free(System.nanoTime());
            }
        });
    }

    private static void onMain(Runnable r) {
        if (Looper.myLooper() == Looper.getMainLooper()) {
            r.run();
        } else {
            new Handler(Looper.getMainLooper()).postAtFrontOfQueue(r);
        }
    }

    private synchronized void registerNow() {
        Context app = context instanceof Application ? context : context.getApplicationContext();
        if (application == null && !unregistered && app instanceof Application) {
            application = (Application) app;
            application.registerActivityLifecycleCallbacks(this);
        }
    }

    synchronized void unregister() {
        unregistered = true;
        Recorder.setOwnFocusListener(null);
        if (application != null) {
            application.unregisterActivityLifecycleCallbacks(this);
        }
    }

    /** Returns when the process began; 0 before Android 7. The clock of uptime is that of {@code System.nanoTime}. */
    private static long processStart() {
        try {
            return Build.VERSION.SDK_INT < 24 ? 0
                    : (Long) Process.class.getMethod("getStartUptimeMillis").invoke(null) * 1000000L;
        } catch (Throwable e) {
            return 0;
        }
    }

    /** Reads the importance of the process, soon after its begin. Calls another process. */
    void readImportance() {
        try {
            ActivityManager.RunningAppProcessInfo info = new ActivityManager.RunningAppProcessInfo();
            ActivityManager.getMyMemoryState(info);
            starts.importance(info.importance);
            guessForeground(info.importance == ActivityManager.RunningAppProcessInfo.IMPORTANCE_FOREGROUND
                    || info.importance == ActivityManager.RunningAppProcessInfo.IMPORTANCE_VISIBLE);
        } catch (Throwable e) {
            // Not known.
        }
    }

    /** Reports to a recorder from now on whether the app is in the foreground: whether any activity is started. */
    synchronized void reportForeground(Recorder to) {
        recorder = to;
        to.foreground(foreground);
    }

    /** Counts until the first callback: activities that were started before are not known. */
    private synchronized void guessForeground(boolean value) {
        if (!called) {
            foreground(value);
        }
    }

    private synchronized void changed() {
        called = true;
        foreground(starts.isForeground());
    }

    private void foreground(boolean value) {
        foreground = value;
        if (recorder != null) {
            recorder.foreground(value);
        }
    }

    /** Says when the first instrumented method was called. May be called on any thread. */
    void first(final long nanos) {
        onMain(new Runnable() {
            @Override
            public void run() {
                starts.applicationNotAfter(nanos);
            }
        });
    }

    /** Keeps no starts, because the detector is off. */
    synchronized void forgetStarts() {
        wanted = startup != null;
        waiting.clear();
    }

    @Override
    public synchronized void report(Startup to) {
        startup = to;
        wanted = to != null;
        for (Start s : waiting) {
            if (to != null) {
                to.ended(s);
            }
        }
        waiting.clear();
    }

    /** Reports to the detector of frames from now on; to none if it is null. */
    void reportFrames(Frames to) {
        frames = to;
    }

    @Override
    public void focusChanged(String activityClass, boolean hasFocus) {
        if (hasFocus && Looper.myLooper() == Looper.getMainLooper()) {
            ended(starts.focus(activityClass, System.nanoTime(), nextRecord()));
        }
    }

    /**
     * Returns a listener for the main Looper that finds the focus of activities whose classes are not instrumented.
     * While a start is open, it looks after each message.
     */
    DispatchListener focusSearch() {
        return new DispatchListener() {
            @Override
            public void dispatchEnd(Dispatch dispatch) {
                if (starts.isOpen()) {
                    searchFocus();
                }
            }
        };
    }

    private void searchFocus() {
        for (Activity a : resumed.keySet()) {
            if (a.hasWindowFocus()) {
                focusChanged(((Object) a).getClass().getName(), true);
                return;
            }
        }
    }

    private synchronized void ended(Start s) {
        if (s == null) {
            return;
        }
        if (startup != null) {
            startup.ended(s);
        } else if (wanted && waiting.size() < MAX_WAITING) {
            waiting.add(s);
        }
    }

    private static long nextRecord() {
        Recorder r = Recorder.current();
        return r == null ? 0 : r.thread(Looper.getMainLooper().getThread()).nextRecord();
    }

    private static long messageRecord() {
        Recorder r = Recorder.current();
        return r == null ? 0 : r.thread(Looper.getMainLooper().getThread()).messageRecord();
    }

    private static long messageNanos() {
        LooperMonitor m = LooperMonitor.existing(Looper.getMainLooper());
        return m == null ? 0 : m.runningSince();
    }

    private static int number(Activity activity) {
        return System.identityHashCode(activity);
    }

    @Override
    public void onActivityCreated(Activity activity, Bundle state) {
        starts.created(number(activity), System.nanoTime(), messageNanos(), messageRecord());
    }

    @Override
    public void onActivityStarted(Activity activity) {
        starts.started(number(activity), System.nanoTime(), messageNanos(), messageRecord());
        changed();
    }

    @Override
    public void onActivityResumed(Activity activity) {
        starts.resumed(number(activity), System.nanoTime());
        changed();
        resumed.put(activity, true);
    }

    @Override
    public void onActivityPaused(Activity activity) {
        starts.paused(number(activity), System.nanoTime());
        changed();
        resumed.remove(activity);
    }

    @Override
    public void onActivityStopped(Activity activity) {
        starts.stopped(number(activity), activity.isChangingConfigurations());
        changed();
        Frames f = frames;
        if (f != null && !starts.isAnyStarted()) {
            f.background();
        }
    }

    @Override
    public void onActivityDestroyed(Activity activity) {
        starts.destroyed(number(activity));
        changed();
        resumed.remove(activity);
    }

    @Override
    public void onActivitySaveInstanceState(Activity activity, Bundle state) {
    }
}
