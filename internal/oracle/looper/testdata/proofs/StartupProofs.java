import android.app.Activity;
import android.app.ActivityManager;
import android.app.Application;
import android.os.Bundle;
import dev.tracegen.device.Device;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.RecorderOptions;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/** Starts, by the callbacks of Android's own Application and messages of its own Looper. */
public final class StartupProofs {
    /** Classes of activities, as an app has them. */
    static final class MainActivity extends Objects.WindowActivity {
    }

    /** An activity whose class is not instrumented: only its window says that it has the focus. */
    static final class PlainActivity extends Objects.WindowActivity {
        boolean focused;

        @Override
        public boolean hasWindowFocus() {
            return focused;
        }
    }

    static final class SplashActivity extends Objects.WindowActivity {
    }

    private static void call(Application app, String what, Activity a) throws Exception {
        boolean created = what.equals("Created");
        Method m = created
                ? Application.class.getDeclaredMethod("dispatchActivityCreated", Activity.class, Bundle.class)
                : Application.class.getDeclaredMethod("dispatchActivity" + what, Activity.class);
        m.setAccessible(true);
        if (created) {
            m.invoke(app, a, null);
        } else {
            m.invoke(app, a);
        }
    }

    /** Creates an activity in a message of the main thread: runs its onCreate, then the callbacks of that. */
    static void created(final App app, final Activity a, final Runnable onCreate) throws Exception {
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                onCreate.run();
                try {
                    call(app, "Created", a);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        });
    }

    /** Runs callbacks of an activity in one message that takes so long. */
    private static void message(final App app, final Activity a, final long millis, final String... events)
            throws Exception {
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                try {
                    Thread.sleep(millis);
                    for (String e : events) {
                        call(app, e, a);
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        });
    }

    private static void focus(final Activity a, final boolean has) throws Exception {
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                AppMethodBeat.at(a, has);
            }
        });
    }

    private static double millis(Incident i, String fact) {
        return Double.parseDouble(i.facts.get(fact));
    }

    /** Says when the process began, as zygote's child does. */
    private static void processBegan(long uptimeMillis) throws Exception {
        for (Method m : android.os.Process.class.getDeclaredMethods()) {
            if (m.getName().equals("setStartTimes")) {
                Object[] args = new Object[m.getParameterTypes().length];
                java.util.Arrays.fill(args, uptimeMillis);
                m.invoke(null, args);
            }
        }
    }

    public void coldWarmAndHotStartsAreReportedWithTheirSteps() throws Exception {
        boolean known = Bench.device.api >= 24;
        Device.setImportance(ActivityManager.RunningAppProcessInfo.IMPORTANCE_FOREGROUND);
        final long forked = android.os.SystemClock.uptimeMillis() - 70;
        processBegan(forked);
        App app = App.attaching(StartProofs.directory());
        Properties settings = new Properties();
        settings.setProperty("startup.splash", SplashActivity.class.getName());
        settings.setProperty("startup.slow-hot", "1");
        Switched s = Switched.start(app, "startup", new RecorderOptions().set("output", "none").apply(settings));
        Activity splash = Objects.bare(SplashActivity.class);
        Activity main = Objects.bare(MainActivity.class);
        message(app, splash, 30, "Created", "Started", "Resumed");
        focus(splash, true);
        message(app, splash, 0, "Paused");
        message(app, main, 20, "Created", "Started", "Resumed");
        message(app, splash, 0, "Stopped", "Destroyed");
        Bench.equal(s.of("startup").size(), 0, "starts before the focus");
        focus(splash, false);
        focus(main, true);
        Incident cold = s.await("startup");
        Bench.equal(cold.facts.get("type"), "cold", "the type");
        Bench.equal(cold.what, MainActivity.class.getName(), "the activity");
        Bench.equal(cold.facts.get("splashes"), "1", "splash activities");
        Bench.equal(cold.facts.get("first-activity-begin"), "message", "how the begin of the activity is known");
        Bench.check(cold.facts.get("application-begin").matches("start-call|first-call"), cold.facts.toString());
        Bench.equal(cold.facts.containsKey("process-millis"), known, "the first step is known");
        double sum = (known ? millis(cold, "process-millis") : 0) + millis(cold, "application-millis")
                + millis(cold, "first-activity-millis");
        Bench.check(Math.abs(sum - cold.wallNanos() / 1e6) < 0.05, "the steps are " + sum + " ms of "
                + cold.wallNanos() / 1e6);
        // The messages of the activities took 50 ms.
        Bench.check(millis(cold, "first-activity-millis") >= 50, cold.facts.toString());
        if (known) {
            Bench.equal(cold.beginNanos, forked * 1000000L, "the begin of the process");
        }
        message(app, main, 0, "Paused", "Stopped");
        focus(main, false);
        message(app, main, 20, "Started", "Resumed");
        focus(main, true);
        Incident hot = awaitStarts(s, 2);
        Bench.equal(hot.facts.get("type") + " " + hot.facts.get("slow"), "hot true", "the type");
        Bench.check(hot.wallNanos() >= 20000000L, "a message of 20 ms is not in " + hot.wallNanos());
        message(app, main, 0, "Paused", "Stopped", "Destroyed");
        focus(main, false);
        final PlainActivity again = Objects.bare(PlainActivity.class);
        message(app, again, 20, "Created", "Started", "Resumed");
        Bench.drain();
        Bench.equal(s.of("startup").size(), 2, "starts before the focus");
        again.focused = true;
        Bench.drain();
        Incident warm = awaitStarts(s, 3);
        Bench.equal(warm.facts.get("type"), "warm", "the type");
        Bench.equal(warm.what, PlainActivity.class.getName(), "the activity");
        message(app, again, 0, "Paused", "Stopped");
        s.stop();
        Bench.measured("cold start: " + cold.facts);
    }

    private static Incident awaitStarts(final Switched s, final int n) throws Exception {
        Bench.until(n + " starts", new Bench.Condition() {
            @Override
            public boolean holds() {
                return s.of("startup").size() >= n;
            }
        });
        List<Incident> all = s.of("startup");
        Bench.equal(all.size(), n, "starts");
        return all.get(n - 1);
    }

    public void aProcessForABroadcastHasNoColdStartAndALateCallSaysSo() throws Exception {
        Device.setImportance(300);
        App app = new App(StartProofs.directory());
        Switched s = Switched.start(app, "startup", new RecorderOptions().set("output", "none"));
        Activity main = Objects.bare(MainActivity.class);
        message(app, main, 0, "Created", "Started", "Resumed");
        focus(main, true);
        Incident i = s.await("startup");
        Bench.equal(i.facts.get("type") + " " + i.facts.get("process-for-other"), "warm true", "the type");
        message(app, main, 0, "Paused", "Stopped");
        focus(main, false);
        s.stop();
        Device.setImportance(ActivityManager.RunningAppProcessInfo.IMPORTANCE_FOREGROUND);
        App late = new App(StartProofs.directory());
        s = Switched.start(late, "startup", new RecorderOptions().set("output", "none"));
        Activity next = Objects.bare(MainActivity.class);
        message(late, next, 0, "Created", "Started", "Resumed");
        focus(next, true);
        Incident cold = s.await("startup");
        Bench.equal(cold.facts.get("type"), "cold", "the type");
        Bench.check(cold.facts.get("application-begin").matches("not known.*|first-call"), cold.facts.toString());
        message(late, next, 0, "Paused", "Stopped");
        focus(next, false);
        s.stop();
        Device.setImportance(ActivityManager.RunningAppProcessInfo.IMPORTANCE_BACKGROUND);
    }

    /** ApplicationStartInfo and its constants are Android's own. */
    public void whatTheSystemSaysOfAStartIsRead() throws Exception {
        if (Bench.device.api < 35) {
            return;
        }
        Class<?> type = Class.forName("android.app.ApplicationStartInfo");
        String[][] names = {(String[]) constant("REASONS"), (String[]) constant("TYPES"), (String[]) constant("STEPS")};
        String[] prefixes = {"START_REASON_", "START_TYPE_", "START_TIMESTAMP_"};
        for (int k = 0; k < names.length; k++) {
            Map<Integer, String> constants = new TreeMap<Integer, String>();
            for (Field f : type.getFields()) {
                if (f.getName().startsWith(prefixes[k]) && !f.getName().contains("RESERVED")) {
                    constants.put(f.getInt(null), f.getName());
                }
            }
            Bench.equal(names[k].length, constants.size(), prefixes[k] + " of " + constants);
        }
        Object info = type.getConstructor(long.class).newInstance(5L);
        set(info, "setPid", android.os.Process.myPid());
        set(info, "setReason", type.getField("START_REASON_LAUNCHER").getInt(null));
        set(info, "setStartType", type.getField("START_TYPE_COLD").getInt(null));
        Method add = type.getMethod("addStartupTimestamp", int.class, long.class);
        add.invoke(info, type.getField("START_TIMESTAMP_LAUNCH").getInt(null), 7000000000L);
        add.invoke(info, type.getField("START_TIMESTAMP_BIND_APPLICATION").getInt(null), 7200000000L);
        Bench.equal(describe(info).toString(), "{system-type=cold, system-reason=launcher, system-launch-millis=-50, "
                + "system-bind-application-millis=150}", "facts");
        set(info, "setPid", 1);
        Bench.equal(describe(info), null, "facts of another process");
    }

    private static void set(Object info, String name, int value) throws Exception {
        info.getClass().getMethod(name, int.class).invoke(info, value);
    }

    private static Object describe(Object info) throws Exception {
        try {
            return Switched.call("StartupSource", "describe", info, 7050000000L);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    private static Object constant(String name) throws Exception {
        Field f = Class.forName("dev.tracegen.runtime.android.StartupSource").getDeclaredField(name);
        f.setAccessible(true);
        return f.get(null);
    }
}
