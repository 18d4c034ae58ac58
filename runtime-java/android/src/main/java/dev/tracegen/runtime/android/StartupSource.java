package dev.tracegen.runtime.android;

import android.app.ActivityManager;
import android.content.Context;
import android.os.Build;
import dev.tracegen.runtime.detector.Detector;
import dev.tracegen.runtime.detector.Startup;
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * Starts as {@link ActivityEvents} has found them, and what Android's {@code ApplicationStartInfo} says of them, from
 * Android 15 on.
 */
final class StartupSource extends Startup.Source {
    private static final int COLD_MILLIS = 10000;
    private static final int WARM_MILLIS = 4000;
    private static final int HOT_MILLIS = 1500;

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
     * @param settings {@code startup.splash}: classes of splash activities, with commas; {@code startup.slow-cold},
     *     {@code startup.slow-warm}, {@code startup.slow-hot}: milliseconds (10000, 4000, 1500)
     * @throws IllegalArgumentException if a setting is wrong
     */
    static Detector create(Properties settings, Context context, ActivityEvents activities) {
        for (String name : settings.getProperty("startup.splash", "").split(",")) {
            if (!name.trim().isEmpty()) {
                activities.splash.add(name.trim());
            }
        }
        return new Startup(new StartupSource(context, activities),
                Settings.number(settings, "startup.slow-cold", COLD_MILLIS, 1, Integer.MAX_VALUE),
                Settings.number(settings, "startup.slow-warm", WARM_MILLIS, 1, Integer.MAX_VALUE),
                Settings.number(settings, "startup.slow-hot", HOT_MILLIS, 1, Integer.MAX_VALUE));
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
        Class<?> type = Class.forName("android.app.ApplicationStartInfo");
        if ((Integer) type.getMethod("getPid").invoke(info) != android.os.Process.myPid()) {
            return null;
        }
        Map<String, String> facts = new LinkedHashMap<String, String>();
        facts.put("system-type", name(TYPES, (Integer) type.getMethod("getStartType").invoke(info)));
        facts.put("system-reason", name(REASONS, (Integer) type.getMethod("getReason").invoke(info)));
        Method times = type.getMethod("getStartupTimestamps");
        Map<?, ?> steps = (Map<?, ?>) times.invoke(info);
        for (int k = 0; k < STEPS.length; k++) {
            Object nanos = steps.get(k);
            if (nanos instanceof Long) {
                // Relative to the begin as we know it: the launch is before it.
                facts.put("system-" + STEPS[k] + "-millis", Long.toString(((Long) nanos - beginNanos) / 1000000L));
            }
        }
        return facts;
    }

    private static String name(String[] names, int value) {
        return value >= 0 && value < names.length ? names[value] : Integer.toString(value);
    }
}
