package dev.tracegen.runtime.android;

import android.app.ActivityManager;
import android.content.Context;
import android.os.Build;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.detector.Detector;
import dev.tracegen.runtime.detector.Startup;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Starts as {@link ActivityEvents} has found them, and what Android's {@code ApplicationStartInfo} says of them, from
 * Android 15 on.
 */
final class StartupSource extends Startup.Source {
    private static final int HAS_START_INFO = 35;

    /** The names of the constants {@code ApplicationStartInfo.START_REASON_...}, in their order. */
    private static final String[] REASONS = {"alarm", "backup", "boot-complete", "broadcast", "content-provider", "job",
        "launcher", "launcher-recents", "other", "push", "service", "start-activity"};

    /** Those of {@code START_TYPE_...}. */
    private static final String[] TYPES = {"unset", "cold", "warm", "hot"};

    /** Those of {@code START_TIMESTAMP_...}. */
    private static final String[] STEPS = {"launch", "fork", "application-on-create", "bind-application", "first-frame",
        "fully-drawn", "render-thread-frame", "composition"};

    private final Context context;
    private final ActivityEvents activities;

    private StartupSource(Context context, ActivityEvents activities) {
        this.context = context;
        this.activities = activities;
    }

    /**
     * Creates the detector {@code startup}.
     *
     * @param o {@code startup.splash}: classes of splash activities; {@code startup.slow-cold},
     *     {@code startup.slow-warm}, {@code startup.slow-hot}: milliseconds
     */
    static Detector create(RecorderOptions o, Context context, ActivityEvents activities) {
        activities.splash.addAll(o.names("startup.splash"));
        return new Startup(new StartupSource(context, activities), o.number("startup.slow-cold"),
                o.number("startup.slow-warm"), o.number("startup.slow-hot"));
    }

    @Override
    protected void start(Startup startup) {
        activities.report(startup);
    }

    @Override
    protected void stop() {
        activities.report((Startup) null);
    }

    @Override
    protected String applicationBegin() {
        return activities.applicationBegin();
    }

    @Override
    protected Map<String, String> system(long beginNanos) {
        if (Build.VERSION.SDK_INT < HAS_START_INFO) {
            return null;
        }
        try {
            Object manager = context.getSystemService(Context.ACTIVITY_SERVICE);
            List<?> infos = (List<?>) ActivityManager.class.getMethod("getHistoricalProcessStartReasons", int.class)
                    .invoke(manager, 1);
            return infos.isEmpty() ? null : describe(infos.get(0), beginNanos);
        } catch (Throwable e) {
            return null;
        }
    }

    /** Returns the facts, if they are about this process; its times are those of {@code System.nanoTime}. */
    private static Map<String, String> describe(Object info, long beginNanos) throws Exception {
        if ((Integer) Reflection.call(info, "getPid") != android.os.Process.myPid()) {
            return null;
        }
        Map<String, String> facts = new LinkedHashMap<String, String>();
        facts.put("system-type", Reflection.name(TYPES, (Integer) Reflection.call(info, "getStartType")));
        facts.put("system-reason", Reflection.name(REASONS, (Integer) Reflection.call(info, "getReason")));
        Map<?, ?> steps = (Map<?, ?>) Reflection.call(info, "getStartupTimestamps");
        for (int k = 0; k < STEPS.length; k++) {
            Object nanos = steps.get(k);
            if (nanos instanceof Long) {
                // Relative to the begin as we know it: the launch is before it.
                facts.put("system-" + STEPS[k] + "-millis", Long.toString(((Long) nanos - beginNanos) / 1000000L));
            }
        }
        return facts;
    }
}
