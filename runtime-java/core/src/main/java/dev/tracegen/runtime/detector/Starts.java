package dev.tracegen.runtime.detector;

import java.util.HashSet;
import java.util.Set;

/**
 * Finds the starts of an app in what its activities do. Used by the main thread only, from before the first activity
 * on. Every method is cheap, so it runs whether or not the detector is on: a detector that is switched on later begins
 * with what is the case.
 *
 * <p>A start begins when the app has no started activity, and one is created (cold or warm) or started again (hot). It
 * ends when an activity has the focus. If the last activity is stopped before that, the user
 * has left, and there was no start. Time alone ends nothing.
 *
 * <p>A start is cold if the activity is the first one of the process, the process had the importance of one that the
 * user sees when it began, and the message that creates the activity begins within 5 s of the moment when the main
 * thread had nothing more to do for the application. A process that was created for a service, a broadcast or a content
 * provider fails one of these, or has no activity at all.
 *
 * <p>If another window takes the focus before the activity has it, a request for a permission for instance, the
 * activity is paused and resumed, with no other activity of the app in between. That time is the user's.
 */
public final class Starts {
    /** How long after the application a first activity is created at most. */
    private static final long FRESH_NANOS = 5000000000L;

    /** {@code ActivityManager.RunningAppProcessInfo.IMPORTANCE_VISIBLE}; larger numbers are less important. */
    private static final int VISIBLE = 200;

    /** The activities that are started now; those that were stopped; both by a number for each object. */
    private final Set<Integer> started = new HashSet<Integer>();
    private final Set<Integer> stopped = new HashSet<Integer>();
    private int relaunching;
    private boolean anyActivity;
    private long processNanos;
    private long applicationNanos;
    private long freeNanos;
    private volatile int importance;
    /** The start that has not ended; null for none. */
    private Start open;

    /** Creates an empty history. */
    public Starts() {
    }

    /**
     * Says when the process and its application began.
     *
     * @param process when the process began; 0 if unknown
     * @param application when the application began, as early as is known
     */
    public void application(long process, long application) {
        applicationNanos = application;
        processNanos = process > 0 && process <= application ? process : 0;
    }

    /** Says that code of the app ran earlier than was known at {@link #application}. */
    public void applicationNotAfter(long nanos) {
        if (nanos < applicationNanos) {
            applicationNanos = Math.max(nanos, processNanos);
        }
    }

    /** Says that the main thread runs its first message behind the one that made the application. */
    public void free(long nanos) {
        if (freeNanos == 0) {
            freeNanos = nanos;
        }
    }

    /**
     * Sets the importance that the process had when it began. May be called on any thread.
     *
     * @param value of {@code ActivityManager.RunningAppProcessInfo}; 0 if unknown
     */
    public void importance(int value) {
        importance = value;
    }

    /**
     * An activity is created.
     *
     * @param messageNanos when the message began that runs; 0 if unknown
     * @param record the number of the main thread's first record of that message
     */
    public void created(int activity, long nanos, long messageNanos, long record) {
        boolean first = !anyActivity;
        anyActivity = true;
        if (open != null) {
            open.pausedNanos = 0;
            return;
        }
        if (!started.isEmpty() || relaunching > 0) {
            return;
        }
        Start o = begin(nanos, messageNanos, record);
        o.type = Start.Type.WARM;
        boolean timely = first && applicationNanos != 0 && (freeNanos == 0 || o.launchNanos - freeNanos <= FRESH_NANOS);
        boolean seen = importance == 0 || importance <= VISIBLE;
        if (timely && seen) {
            o.type = Start.Type.COLD;
            o.applicationNanos = Math.min(applicationNanos, o.launchNanos);
            o.processKnown = processNanos != 0;
            o.beginNanos = o.processKnown ? processNanos : o.applicationNanos;
            o.firstRecord = 0;
        } else {
            o.processForOther = first && applicationNanos != 0;
        }
        open = o;
    }

    private Start begin(long nanos, long messageNanos, long record) {
        Start o = new Start();
        // The message of the application itself is not the one that creates an activity.
        boolean known = messageNanos != 0 && messageNanos <= nanos && messageNanos > applicationNanos;
        o.launchNanos = known ? messageNanos : nanos;
        o.beginNanos = o.launchNanos;
        o.applicationNanos = o.launchNanos;
        o.firstRecord = record;
        return o;
    }

    /** An activity is started. The parameters are those of {@link #created}. */
    public void started(int activity, long nanos, long messageNanos, long record) {
        anyActivity = true;
        if (relaunching > 0) {
            relaunching--;
        } else if (open == null && started.isEmpty() && stopped.contains(activity)) {
            open = begin(nanos, messageNanos, record);
            open.type = Start.Type.HOT;
        }
        if (open != null && open.pausedActivity != activity) {
            open.pausedNanos = 0;
        }
        stopped.remove(activity);
        started.add(activity);
    }

    /** An activity is resumed. */
    public void resumed(int activity, long nanos) {
        anyActivity = true;
        started.add(activity);
        if (open != null) {
            if (open.pausedNanos != 0 && open.pausedActivity == activity) {
                open.awayNanos += Math.max(0, nanos - open.pausedNanos);
            }
            open.pausedNanos = 0;
        }
    }

    /** An activity is paused. */
    public void paused(int activity, long nanos) {
        anyActivity = true;
        started.add(activity);
        if (open != null) {
            open.pausedActivity = activity;
            open.pausedNanos = nanos;
        }
    }

    /**
     * An activity is stopped.
     *
     * @param relaunched whether it is destroyed and created anew at once, because the configuration has changed
     */
    public void stopped(int activity, boolean relaunched) {
        anyActivity = true;
        started.remove(activity);
        if (relaunched) {
            relaunching++;
            return;
        }
        stopped.add(activity);
        if (started.isEmpty() && relaunching == 0) {
            // The user has left, if there was a start.
            open = null;
        }
    }

    /** An activity is destroyed. */
    public void destroyed(int activity) {
        stopped.remove(activity);
        // An activity that finishes itself in onCreate is neither started nor stopped. The next one goes on.
        started.remove(activity);
    }

    /** Returns whether any activity is started now. */
    public boolean isForeground() {
        return !started.isEmpty();
    }

    /** Returns whether any activity is started, or about to be created anew. */
    public boolean isAnyStarted() {
        return !started.isEmpty() || relaunching > 0;
    }

    /** Returns whether a start has begun and not ended. */
    public boolean isOpen() {
        return open != null;
    }

    /**
     * An activity has the focus.
     *
     * @param activity the name of its class
     * @param record the number that the main thread's next record will have
     * @return the start that has ended with this; null if there is none
     */
    public Start focus(String activity, long nanos, long record) {
        Start o = open;
        if (o == null) {
            return null;
        }
        open = null;
        o.end(activity, nanos, record);
        return o;
    }
}
