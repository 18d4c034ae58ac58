import android.app.Activity;
import android.app.ActivityManager;
import android.content.Context;
import android.content.ContextWrapper;
import android.os.Looper;
import android.os.MessageQueue;
import dev.tracegen.device.Device;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;
import java.io.FilePermission;
import java.io.FileWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.SocketPermission;
import java.security.Permission;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;

/** When and where an app may start and stop the runtime. */
public final class StartProofs {
    static File directory() {
        File dir = new File(System.getProperty("java.io.tmpdir"), "proofs-" + System.nanoTime());
        Bench.check(dir.mkdirs(), "no directory");
        return dir;
    }

    /** A Context of an app that is not its Application, as the one that attachBaseContext gets. */
    private static final class Base extends ContextWrapper {
        Base(App app) {
            super(app);
        }

        @Override
        public Context getApplicationContext() {
            return getBaseContext().getApplicationContext();
        }
    }

    public void aStartInAttachBaseContextSeesActivities() throws Exception {
        for (int how = 0; how < 2; how++) {
            final App app = App.attaching(directory());
            final Context context = how == 0 ? app : new Base(app);
            Bench.onMain(new Runnable() {
                @Override
                public void run() {
                    Bench.check(context.getApplicationContext() == null, "the app is not attaching");
                    Bench.check(TracegenRuntime.start(context, new RecorderOptions().set("output", "none")),
                            "not recording");
                    app.created();
                }
            });
            Bench.settle();
            Bench.check(!Objects.foreground(), "in the foreground without an activity");
            Activity first = Objects.activity();
            Activity second = Objects.activity();
            Objects.lifecycle(app, "Started", first);
            Bench.check(Objects.foreground(), "an activity is started, and the app is in the background");
            Objects.lifecycle(app, "Started", second);
            Objects.lifecycle(app, "Stopped", first);
            Bench.check(Objects.foreground(), "one of two activities is stopped");
            Objects.lifecycle(app, "Stopped", second);
            Bench.check(!Objects.foreground(), "in the foreground after the last activity");
            TracegenRuntime.stop();
            Objects.lifecycle(app, "Started", first);
        }
    }

    public void aLateStartReportsTheForeground() throws Exception {
        App app = new App(directory());
        Device.setImportance(ActivityManager.RunningAppProcessInfo.IMPORTANCE_FOREGROUND);
        Bench.check(TracegenRuntime.start(app, new RecorderOptions().set("output", "none")), "not recording");
        Bench.settle();
        Bench.check(Objects.foreground(), "background, though an activity was started before");
        Activity known = Objects.activity();
        Activity before = Objects.activity();
        Objects.lifecycle(app, "Started", known);
        Objects.lifecycle(app, "Paused", before);
        Objects.lifecycle(app, "Stopped", known);
        Bench.check(Objects.foreground(), "the activity from before the start is forgotten");
        Objects.lifecycle(app, "Stopped", before);
        Bench.check(!Objects.foreground(), "in the foreground after the last activity");
        TracegenRuntime.stop();
        Device.setImportance(ActivityManager.RunningAppProcessInfo.IMPORTANCE_BACKGROUND);
        Bench.check(TracegenRuntime.start(app, new RecorderOptions().set("output", "none")), "not recording");
        Bench.settle();
        Bench.check(!Objects.foreground(), "in the foreground, though Android says the opposite");
        TracegenRuntime.stop();
    }

    public void aStopAtAnyMomentEndsTheStart() throws Exception {
        final App app = new App(directory());
        for (int k = 0; k < 200; k++) {
            Bench.check(TracegenRuntime.start(app, new RecorderOptions().set("output", "none")), "not recording");
            long pause = k * 5000L;
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < pause) {
                Thread.yield();
            }
            if (k % 2 == 0) {
                TracegenRuntime.stop();
            } else {
                Bench.onMain(new Runnable() {
                    @Override
                    public void run() {
                        TracegenRuntime.stop();
                    }
                });
            }
        }
        Bench.settle();
        Bench.check(AppMethodBeat.status() != AppMethodBeat.STATUS_STARTED, "recording after the last stop");
        Bench.equal(Bench.printer(), null, "the printer after the last stop");
        @SuppressWarnings("unchecked")
        ArrayList<MessageQueue.IdleHandler> list = (ArrayList<MessageQueue.IdleHandler>) Bench.field(
                Looper.getMainLooper().getQueue(), MessageQueue.class, "mIdleHandlers");
        Bench.check(list.getClass() == ArrayList.class, "the list of idle handlers after the last stop");
        Bench.check(TracegenRuntime.start(app, new RecorderOptions().set("output", "none")), "not recording");
        Bench.settle();
        Bench.equal(AppMethodBeat.status(), AppMethodBeat.STATUS_STARTED, "the status after another start");
        TracegenRuntime.stop();
    }

    public void startsOfManyThreadsLeaveOneRecorder() throws Exception {
        final App app = new App(directory());
        List<Thread> threads = new ArrayList<Thread>();
        for (int k = 0; k < 4; k++) {
            Thread t = new Thread() {
                @Override
                public void run() {
                    for (int j = 0; j < 20; j++) {
                        TracegenRuntime.start(app, new RecorderOptions().set("output", "none"));
                    }
                }
            };
            t.start();
            threads.add(t);
        }
        for (Thread t : threads) {
            t.join();
        }
        Bench.settle();
        Bench.equal(AppMethodBeat.status(), AppMethodBeat.STATUS_STARTED, "the status");
        TracegenRuntime.stop();
        Bench.settle();
        Bench.check(AppMethodBeat.status() != AppMethodBeat.STATUS_STARTED, "recording after the stop");
        Bench.equal(Bench.printer(), null, "the printer");
    }

    public void whatIsSwitchedOffHoldsNothing() throws Exception {
        TracegenRuntime.stop();
        // The clock of an earlier recorder may still run.
        Bench.ended();
        Properties off = new Properties();
        off.setProperty("enabled", "false");
        Bench.check(!TracegenRuntime.start(new App(directory()), new RecorderOptions().apply(off)), "recording");
        Bench.settle();
        AppMethodBeat.i(5);
        Bench.check(AppMethodBeat.status() < 0, "the status is " + AppMethodBeat.status());
        Bench.equal(Bench.printer(), null, "the printer");
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            Bench.check(!t.getName().equals("tracegen-clock"), "a clock runs");
        }
    }

    public void theConfigurationIsReadFromTheAssets() throws Exception {
        App app = new App(directory());
        File assets = new File(app.files, "assets");
        Bench.check(assets.mkdirs(), "no directory");
        FileWriter out = new FileWriter(new File(assets, TracegenRuntime.FILE));
        out.write("slow = 50\ntick = us\noutput = kept/assets.tgd\n");
        out.close();
        app.assets = Device.assets(assets);
        Bench.equal(TracegenRuntime.options(app).problems().size(), 0, "problems of the configuration");
        final AtomicInteger stalls = new AtomicInteger();
        Recorder.setStallListener(new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                stalls.incrementAndGet();
            }
        });
        Bench.check(TracegenRuntime.start(app), "not recording");
        Bench.settle();
        Bench.stallUntil("a stall by the threshold of the assets", new Runnable() {
            @Override
            public void run() {
                try {
                    Thread.sleep(60);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }, new Bench.Condition() {
            @Override
            public boolean holds() {
                return stalls.get() > 0;
            }
        });
        TracegenRuntime.stop();
        Recorder.setStallListener(null);
        Bench.ended();
        Bench.check(new File(app.getNoBackupFilesDir(), "kept/assets.tgd").exists(), "no recording");
        Bench.check(new File(assets, TracegenRuntime.FILE).delete(), "not deleted");
        FileWriter off = new FileWriter(new File(assets, TracegenRuntime.FILE));
        off.write("enabled = false\n");
        off.close();
        Bench.check(TracegenRuntime.start(app), "not begun");
        Bench.settle();
        Bench.check(AppMethodBeat.status() != AppMethodBeat.STATUS_STARTED, "recording, though it is switched off");
        Bench.equal(Bench.printer(), null, "the printer");
        Bench.check(!TracegenRuntime.watch(Looper.getMainLooper()), "a looper is watched");
    }

    public void aDirectoryThatOnlyAndroidCanMakeIsMade() throws Exception {
        App app = new App(directory());
        File external = new File(app.getFilesDir(), "external");
        Bench.check(external.createNewFile(), "no file");
        app.reserved = external;
        Bench.check(TracegenRuntime.start(app, new RecorderOptions().set("output", external + "/app.tgd")),
                "not recording");
        Bench.settle();
        TracegenRuntime.stop();
        Bench.ended();
        Bench.check(external.isDirectory(), "no directory for the recording");
    }

    /** Finds the first access to a file or to the network on a thread. Loading a class is none: Android maps them. */
    static final class Strict extends SecurityManager {
        private final Thread thread;
        volatile Throwable access;

        Strict(Thread thread) {
            this.thread = thread;
        }

        @Override
        public void checkPermission(Permission p) {
            if (p instanceof FilePermission || p instanceof SocketPermission) {
                accessed(p.toString());
            }
        }

        void accessed(String what) {
            if (Thread.currentThread() != thread || access != null) {
                return;
            }
            Throwable here = new Throwable(what);
            for (StackTraceElement e : here.getStackTrace()) {
                if (e.getMethodName().equals("loadClass")) {
                    return;
                }
            }
            access = here;
        }

        @Override
        public void checkPermission(Permission p, Object context) {
            checkPermission(p);
        }
    }

    /** On ART, the policy of StrictMode finds them. Returns false if this machine cannot observe accesses. */
    private static boolean observe(final Strict strict) throws Exception {
        if (!Device.ART) {
            try {
                System.setSecurityManager(strict);
                return true;
            } catch (UnsupportedOperationException e) {
                return false;
            }
        }
        Class<?> policy = Class.forName("dalvik.system.BlockGuard$Policy");
        final Object watching = Proxy.newProxyInstance(StartProofs.class.getClassLoader(), new Class<?>[] {policy},
                new InvocationHandler() {
                    @Override
                    public Object invoke(Object self, Method method, Object[] args) {
                        if (method.getName().matches("on(ReadFromDisk|WriteToDisk|Network)")) {
                            strict.accessed(method.getName());
                        }
                        return method.getReturnType() == int.class ? 0 : null;
                    }
                });
        final Method set = Class.forName("dalvik.system.BlockGuard").getMethod("setThreadPolicy", policy);
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                try {
                    set.invoke(null, watching);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        return true;
    }

    public void theMainThreadTouchesNoFile() throws Exception {
        final Strict strict = new Strict(Looper.getMainLooper().getThread());
        if (!observe(strict)) {
            Bench.measured("files on the main thread: not tried, this JDK cannot observe them");
            return;
        }
        try {
            final App app = new App(directory());
            final File probe = new File(app.files, "probe");
            Bench.onMain(new Runnable() {
                @Override
                public void run() {
                    probe.exists();
                }
            });
            Bench.check(strict.access != null, "the access of the proof itself is not seen");
            strict.access = null;
            for (int k = 0; k < 4; k++) {
                final boolean fromFile = k % 2 == 0;
                Bench.onMain(new Runnable() {
                    @Override
                    public void run() {
                        Bench.check(fromFile ? TracegenRuntime.start(app)
                                : TracegenRuntime.start(app, new RecorderOptions().set("frames", "true")),
                                "not recording");
                    }
                });
                Bench.settle();
                Bench.equal(AppMethodBeat.status(), AppMethodBeat.STATUS_STARTED, "the status");
                Objects.lifecycle(app, "Started", Objects.activity());
                Bench.onMain(new Runnable() {
                    @Override
                    public void run() {
                        TracegenRuntime.stop();
                    }
                });
                Bench.settle();
            }
            if (strict.access != null) {
                throw new AssertionError("the main thread accessed " + strict.access.getMessage(), strict.access);
            }
        } finally {
            // On ART, the policy stays: it throws nothing.
            strict.access = new Throwable("not observed any more");
            if (!Device.ART) {
                System.setSecurityManager(null);
            }
        }
    }
}
