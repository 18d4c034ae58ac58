import android.app.Activity;
import android.app.ActivityManager;
import android.app.Application;
import android.os.Bundle;
import dev.tracegen.device.Device;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.RecorderOptions;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Properties;

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
        settings.setProperty("startup.slow-hot", "1");
        Switched s = Switched.start(app, "startup", new RecorderOptions().set("output", "none").apply(settings));
        Activity main = Objects.bare(MainActivity.class);
        message(app, main, 50, "Created", "Started", "Resumed");
        Bench.equal(s.of("startup").size(), 0, "starts before the focus");
        focus(main, true);
        Incident cold = s.await("startup");
        Bench.equal(cold.facts.get("type"), "cold", "the type");
        Bench.equal(cold.what, MainActivity.class.getName(), "the activity");
        Bench.equal(cold.facts.containsKey("process-millis"), known, "the first step is known");
        double sum = (known ? millis(cold, "process-millis") : 0) + millis(cold, "application-millis")
                + millis(cold, "first-activity-millis");
        Bench.check(Math.abs(sum - cold.wallNanos() / 1e6) < 0.05, "the steps are " + sum + " ms of "
                + cold.wallNanos() / 1e6);
        // The message of the activity took 50 ms.
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
        message(late, next, 0, "Paused", "Stopped");
        focus(next, false);
        s.stop();
        Device.setImportance(ActivityManager.RunningAppProcessInfo.IMPORTANCE_BACKGROUND);
    }
}
