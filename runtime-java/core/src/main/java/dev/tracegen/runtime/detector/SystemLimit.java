package dev.tracegen.runtime.detector;

import org.jspecify.annotations.Nullable;

/** After which time Android says that an app does not respond, by the kind of work. */
enum SystemLimit {
    /** An input event that waits. It also bounds every message of an app that has the focus. */
    INPUT("input", 5000, 0),
    /** {@code onReceive}, for broadcasts of the foreground and of the background. */
    BROADCAST("broadcast", 10000, 60000),
    /** Callbacks of a service, if the caller is in the foreground or in the background. */
    SERVICE("service", 20000, 200000),
    /** The start of the process until its content providers are published. */
    PROVIDER("provider", 10000, 0),
    /** {@code onStartJob} and {@code onStopJob}. */
    JOB("job", 8000, 0);

    private static final String APP = "android.app.ActivityThread$H";
    private static final String JOBS = "android.app.job.JobServiceEngine$JobHandler";

    /** The word in reports. */
    final String word;

    /** Milliseconds, the shorter limit if there are two. */
    final long millis;

    /** The longer limit in milliseconds, 0 if there is none. */
    final long backgroundMillis;

    SystemLimit(String word, long millis, long backgroundMillis) {
        this.word = word;
        this.millis = millis;
        this.backgroundMillis = backgroundMillis;
    }

    /**
     * Returns the limit of a message.
     *
     * @param text as {@link dev.tracegen.runtime.MessageRecord#description}; null if the message is not known
     */
    static SystemLimit of(@Nullable String text) {
        int colon = text == null ? -1 : text.lastIndexOf(": ");
        if (colon < 0) {
            return INPUT;
        }
        String what = text.substring(colon + 2);
        if (text.contains(JOBS)) {
            return what.equals("0") || what.equals("1") ? JOB : INPUT;
        }
        if (!text.contains(APP)) {
            return INPUT;
        }
        // The constants of ActivityThread.H have these values since Android 4.
        if (what.equals("110")) {
            return PROVIDER;
        }
        if (what.equals("113")) {
            return BROADCAST;
        }
        boolean service = what.equals("114") || what.equals("115") || what.equals("116") || what.equals("121")
                || what.equals("122");
        return service ? SERVICE : INPUT;
    }
}
