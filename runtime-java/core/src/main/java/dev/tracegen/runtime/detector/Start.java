package dev.tracegen.runtime.detector;

/**
 * One start of the app: what the user waited for until the first activity had the focus. Only {@link Starts} changes
 * it, and nothing once it has ended.
 */
public final class Start {
    /** How much of an app was there when a start began. */
    public enum Type {
        /** The process was created for this start. */
        COLD,

        /** The process was there, and the activity was created anew. */
        WARM,

        /** The activity was there and came back to the foreground. */
        HOT
    }

    /** What the type is. */
    Type type;

    /**
     * When it began, in {@link dev.tracegen.runtime.Platform#nanoTime}. For a cold start it is the time when the
     * process began if {@link #processKnown}, otherwise {@link #applicationNanos}; for others that of the message that
     * created or started the activity.
     */
    long beginNanos;

    /** When the application began, of a cold start; otherwise {@link #beginNanos}. */
    long applicationNanos;

    /** When the message began that created or started the first activity. */
    long launchNanos;

    /** When the activity had the focus. */
    long focusNanos;

    /** How long something else was in front of the activity meanwhile, such as a dialog of the system. */
    long awayNanos;

    /** The class of the activity that had the focus. */
    String activity;

    /** Whether the time when the process began is known. */
    boolean processKnown;

    /** Whether the process was new, but was created for something else than this start, a broadcast for instance. */
    boolean processForOther;

    /** The number of the main thread's first record of this start, and of the one behind the last. */
    long firstRecord;

    /** The number of the main thread's record behind the last of this start. */
    long endRecord;

    /** The activity that is paused, and since when; 0 if none is. */
    int pausedActivity;
    long pausedNanos;

    /** Ends it. */
    void end(String focused, long nanos, long record) {
        activity = focused;
        focusNanos = Math.max(nanos, launchNanos);
        awayNanos = Math.min(awayNanos, focusNanos - launchNanos);
        endRecord = Math.max(firstRecord, record);
    }

    /**
     * Returns the time from the begin of the process to that of the application.
     *
     * @return nanoseconds; 0 if it is not known or no cold start
     */
    public long processNanos() {
        return applicationNanos - beginNanos;
    }

    /**
     * Returns the time from the begin of the application to the message that creates the first activity.
     *
     * @return nanoseconds; 0 if it is no cold start
     */
    public long applicationStepNanos() {
        return launchNanos - applicationNanos;
    }

    /** Returns the time from the message that creates or starts the first activity to the focus. */
    public long activityNanos() {
        return focusNanos - launchNanos;
    }

    /** Returns the whole time: the sum of the three steps. */
    public long totalNanos() {
        return focusNanos - beginNanos;
    }

    /**
     * Returns the time that the app itself needed.
     *
     * @return {@link #totalNanos} without {@link #awayNanos}
     */
    public long ownNanos() {
        return totalNanos() - awayNanos;
    }
}
