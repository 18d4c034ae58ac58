package dev.tracegen.runtime.android;

import android.app.Application;
import android.content.Context;
import android.os.Looper;
import android.util.Log;
import android.view.WindowManager;
import dev.tracegen.runtime.MappingReader;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.ThreadTrace;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Starts and ends recording in an app. One call in {@code Application.attachBaseContext} or {@code onCreate} is all:
 *
 * <pre>
 *   import dev.tracegen.runtime.android.TracegenRuntime;
 *   ...
 *   TracegenRuntime.start(this);
 * </pre>
 *
 * <p>Nothing here throws. What does not work is logged under {@code tracegen}, and the app goes on without.
 */
public final class TracegenRuntime {
    private static final String TAG = "tracegen";

    private static TracegenRuntime running;

    private final Recorder recorder;
    private final RuntimeConfig config;
    private final LooperMonitor monitor;
    private final RecorderListener listener;
    private final Application application;
    private final Foreground foreground;
    private final FrameTimes frames;

    /** The other loopers that are watched, which it does not keep alive. */
    private final Map<Looper, WeakReference<LooperMonitor>> watched =
            new WeakHashMap<Looper, WeakReference<LooperMonitor>>();

    private TracegenRuntime(Context context, RuntimeConfig config) {
        this.config = config;
        RecorderOptions options = config.recorder;
        options.platform(new AndroidPlatform());
        options.output(output(context, config.output));
        options.mapping(config.mapping == null ? null : mapping(context, new File(config.mapping)));
        options.meta("package", context.getPackageName()).meta("process", process());
        recorder = Recorder.start(options);
        Context app = context.getApplicationContext();
        application = app instanceof Application ? (Application) app : null;
        ThreadTrace trace = recorder.thread(Looper.getMainLooper().getThread());
        foreground = new Foreground(recorder, config.inputEvents ? new InputEvents(trace) : null);
        if (application != null) {
            application.registerActivityLifecycleCallbacks(foreground);
        }
        QueueSnapshot pending = QueueSnapshot.of(Looper.getMainLooper());
        trace.setPendingQueue(pending);
        listener = new RecorderListener(trace);
        monitor = LooperMonitor.of(Looper.getMainLooper(), config.monitor);
        monitor.add(listener);
        frames = config.frames ? new FrameTimes(trace, refreshHz(context)) : null;
        if (frames != null) {
            monitor.add(frames);
            frames.start();
        }
        Log.i(TAG, "recording; messages by " + monitor.source() + ", idle handlers "
                + (monitor.reportsIdleHandlers() ? "seen" : "not available") + ", pending messages "
                + (pending != null ? "seen" : "not available"));
    }

    /**
     * Starts recording as {@code tracegen-runtime.properties} says.
     *
     * @param context any of the app's
     * @return false if it is not to start, or could not, which is logged
     */
    public static boolean start(Context context) {
        return start(context, RuntimeConfig.read(context));
    }

    /**
     * Starts recording. One that runs is stopped first.
     *
     * @param context any of the app's
     * @param config what to do; {@link RuntimeConfig#read} gives what the file says, for changes in code
     * @return false if it is not to start, or could not, which is logged
     */
    public static synchronized boolean start(Context context, RuntimeConfig config) {
        try {
            for (String problem : config.problems()) {
                Log.w(TAG, problem);
            }
            stop();
            if (config.enabled) {
                running = new TracegenRuntime(context, config);
            }
            return config.enabled;
        } catch (Throwable e) {
            Log.w(TAG, "not recording", e);
            return false;
        }
    }

    /** Ends recording and closes its file. The loopers are given back as they were. */
    public static synchronized void stop() {
        TracegenRuntime r = running;
        running = null;
        if (r == null) {
            return;
        }
        try {
            if (r.frames != null) {
                r.frames.stop();
            }
            r.monitor.release();
            for (WeakReference<LooperMonitor> other : r.watched.values()) {
                LooperMonitor m = other.get();
                if (m != null) {
                    m.release();
                }
            }
            if (r.application != null) {
                r.application.unregisterActivityLifecycleCallbacks(r.foreground);
            }
        } finally {
            r.recorder.stop();
        }
    }

    /**
     * Watches a thread's looper too, and records the thread's instrumented methods if the recorder was told to record
     * chosen threads or all. It ends with the looper.
     *
     * @param looper of a {@code HandlerThread}, for instance
     * @return its monitor; null if nothing is recorded now
     */
    public static synchronized LooperMonitor watch(Looper looper) {
        if (running == null || looper == Looper.getMainLooper()) {
            return running == null ? null : running.monitor;
        }
        WeakReference<LooperMonitor> known = running.watched.get(looper);
        LooperMonitor monitor = known == null ? null : known.get();
        if (monitor == null) {
            ThreadTrace trace = running.recorder.thread(looper.getThread());
            trace.setPendingQueue(QueueSnapshot.of(looper));
            monitor = LooperMonitor.of(looper, running.config.monitor);
            monitor.add(new RecorderListener(trace));
            running.watched.put(looper, new WeakReference<LooperMonitor>(monitor));
        }
        return monitor;
    }

    /** The display's rate, 0 if it is not known yet. */
    private static float refreshHz(Context context) {
        try {
            WindowManager windows = (WindowManager) context.getSystemService(Context.WINDOW_SERVICE);
            return windows.getDefaultDisplay().getRefreshRate();
        } catch (RuntimeException e) {
            return 0;
        }
    }

    private static MappingReader mapping(final Context context, final File file) {
        return new MappingReader(file) {
            @Override
            protected InputStream open() throws IOException {
                return file.isAbsolute() ? super.open() : context.getAssets().open(file.getPath());
            }
        };
    }

    private static File output(Context context, String name) {
        if ("none".equals(name)) {
            return null;
        }
        File file = new File(name == null ? "tracegen/" + process().replaceAll("[^A-Za-z0-9._-]", "_") + ".tgd" : name);
        if (!file.isAbsolute()) {
            file = new File(context.getFilesDir(), file.getPath());
        }
        File dir = file.getParentFile();
        if (!dir.isDirectory() && !dir.mkdirs()) {
            Log.w(TAG, dir + " cannot be made; nothing is written");
            return null;
        }
        return file;
    }

    /** The process's name, by which two processes of one app do not write into one file. */
    private static String process() {
        try {
            BufferedReader in = new BufferedReader(new InputStreamReader(new FileInputStream("/proc/self/cmdline"), "UTF-8"));
            try {
                String line = in.readLine();
                String name = line == null ? "" : line.split("\0", 2)[0].trim();
                return name.length() == 0 ? "app" : new File(name).getName();
            } finally {
                in.close();
            }
        } catch (IOException e) {
            return "app";
        }
    }
}
