package dev.tracegen.runtime.android;

import android.content.Context;
import android.os.Build;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.detector.Detector;
import dev.tracegen.runtime.detector.Environment;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executor;

/**
 * The detector {@code profiling}: reports the files that Android's {@code ProfilingManager} makes for this app, from
 * Android 15 on, whether the app has asked for them or the system has made them by itself. From Android 16 on it may
 * ask the system for profiles of ANRs and of starts. It starts no profiling itself.
 *
 * <p>The class is called by reflection, because the library is compiled against an older version. All that it calls is
 * public API.
 */
final class ProfilingResults extends Detector {
    private static final int HAS_PROFILING = 35;

    /** {@code Context.PROFILING_SERVICE}. */
    private static final String SERVICE = "profiling";

    /** The names of the constants {@code ProfilingResult.ERROR_...}, in their order. */
    private static final String[] ERRORS = {"none", "rate-limit-system", "rate-limit-process",
        "profiling-in-progress", "executing", "post-processing", "no-disk-space", "invalid-request", "unknown"};

    /** The names of the constants {@code ProfilingTrigger.TRIGGER_TYPE_...}, in their order. */
    private static final String[] TRIGGERS = {"none", "app-fully-drawn", "anr", "app-request-running-trace",
        "kill-force-stop", "kill-recents", "kill-task-manager", "oom", "anomaly", "kill-excessive-cpu-usage",
        "cold-start", "app-compat"};

    /** How the names of files end, and what they are: a result does not say its type. */
    private static final String[][] TYPES = {{".perfetto-java-heap-dump", "java-heap-dump"},
        {".perfetto-heap-profile", "heap-profile"}, {".perfetto-stack-sample", "stack-sampling"},
        {".perfetto-trace", "system-trace"}, {".hprof", "java-heap-dump"}};

    private final Context context;

    /** Constants of {@code ProfilingTrigger}. */
    private final List<Integer> triggers = new ArrayList<Integer>();

    private Object manager;
    private Object listener;
    private boolean hasTriggers;

    private ProfilingResults(Context context) {
        super("profiling");
        this.context = context;
    }

    /**
     * Creates the detector {@code profiling}.
     *
     * @param o {@code profiling.triggers}: what the system is asked to profile, from Android 16 on: {@code anr},
     *     {@code app-fully-drawn}, {@code cold-start} and so on
     * @throws IllegalArgumentException if there is no such trigger
     */
    static Detector create(RecorderOptions o, Context context) {
        ProfilingResults d = new ProfilingResults(context);
        for (String name : o.names("profiling.triggers")) {
            d.triggers.add(trigger(name));
        }
        return d;
    }

    private static int trigger(String name) {
        for (int k = 1; k < TRIGGERS.length; k++) {
            if (TRIGGERS[k].equals(name)) {
                return k;
            }
        }
        throw new IllegalArgumentException("profiling.triggers = " + name
                + ": there is no such trigger; use anr or app-fully-drawn, for instance");
    }

    @Override
    public String unavailable() {
        if (Build.VERSION.SDK_INT < HAS_PROFILING) {
            return "needs API " + HAS_PROFILING;
        }
        return service() == null ? "the device has no ProfilingManager" : null;
    }

    private Object service() {
        try {
            return context.getSystemService(SERVICE);
        } catch (Throwable e) {
            return null;
        }
    }

    @Override
    protected void start(final Environment environment) {
        try {
            manager = service();
            Class<?> consumer = Class.forName("java.util.function.Consumer");
            listener = Proxy.newProxyInstance(ProfilingResults.class.getClassLoader(), new Class<?>[] {consumer},
                    new Listener(environment));
            Executor executor = new Executor() {
                @Override
                public void execute(Runnable work) {
                    environment.at(environment.nanoTime(), work);
                }
            };
            manager.getClass().getMethod("registerForAllProfilingResults", Executor.class, consumer)
                    .invoke(manager, executor, listener);
            addTriggers();
        } catch (Exception e) {
            // Detectors calls stop.
            throw new IllegalStateException("ProfilingManager refuses: " + cause(e), e);
        }
    }

    private static Throwable cause(Exception e) {
        return e.getCause() == null ? e : e.getCause();
    }

    /** Asks for profiles by the system. Before Android 16 there are none. */
    private void addTriggers() throws Exception {
        Method add = Reflection.method(manager.getClass(), "addProfilingTriggers", List.class);
        if (triggers.isEmpty() || add == null) {
            return;
        }
        Class<?> builder = Class.forName("android.os.ProfilingTrigger$Builder");
        List<Object> all = new ArrayList<Object>();
        for (int type : triggers) {
            all.add(builder.getMethod("build").invoke(builder.getConstructor(int.class).newInstance(type)));
        }
        add.invoke(manager, all);
        hasTriggers = true;
    }

    @Override
    protected void stop() {
        if (manager == null) {
            return;
        }
        try {
            if (listener != null) {
                manager.getClass()
                        .getMethod("unregisterForAllProfilingResults", Class.forName("java.util.function.Consumer"))
                        .invoke(manager, listener);
            }
            Method remove = Reflection.method(manager.getClass(), "removeProfilingTriggersByType", int[].class);
            if (hasTriggers && remove != null) {
                Object types = Array.newInstance(int.class, triggers.size());
                for (int k = 0; k < triggers.size(); k++) {
                    Array.setInt(types, k, triggers.get(k));
                }
                remove.invoke(manager, types);
            }
        } catch (Exception e) {
            throw new IllegalStateException("ProfilingManager refuses: " + cause(e), e);
        } finally {
            manager = null;
            listener = null;
            hasTriggers = false;
        }
    }

    /** The {@code Consumer} of results. The system calls it by the executor above: on the detectors' thread. */
    private final class Listener implements InvocationHandler {
        private final Environment environment;

        Listener(Environment environment) {
            this.environment = environment;
        }

        @Override
        public Object invoke(Object proxy, Method called, Object[] arguments) throws Exception {
            String name = called.getName();
            if (name.equals("accept")) {
                report(arguments[0]);
                return null;
            }
            if (name.equals("andThen")) {
                throw new UnsupportedOperationException("andThen");
            }
            return Reflection.objectMethod(proxy, name, arguments);
        }

        private void report(Object result) throws Exception {
            // It concerns the whole process, so it is not an incident of the Looper's thread.
            long now = environment.nanoTime();
            Incident.Builder b = environment.recorder.incident(name(), "profile").begin(now).end(now);
            int error = (Integer) get(result, "getErrorCode");
            // Without a file, Android 17 returns the directory of the app and "null" behind it.
            String file = error == 0 ? (String) get(result, "getResultFilePath") : null;
            b.fact("file", file).fact("type", type(file)).fact("tag", get(result, "getTag"));
            Object trigger = get(result, "getTriggerType");
            if (trigger != null && (Integer) trigger != 0) {
                b.fact("trigger", Reflection.name(TRIGGERS, (Integer) trigger));
            }
            if (error != 0) {
                b.fact("error", Reflection.name(ERRORS, error)).fact("error-message", get(result, "getErrorMessage"));
            }
            b.report();
        }
    }

    /** Returns what a getter returns; null if there is none in this version. */
    private static Object get(Object of, String getter) throws Exception {
        Method m = Reflection.method(of.getClass(), getter);
        return m == null ? null : m.invoke(of);
    }

    private static String type(String file) {
        String name = file == null ? "" : file.toLowerCase(Locale.ROOT);
        for (String[] t : TYPES) {
            if (name.endsWith(t[0])) {
                return t[1];
            }
        }
        return null;
    }
}
