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
import org.jspecify.annotations.Nullable;

/**
 * Starts and stops recording in an app. One call in {@code Application.attachBaseContext} or {@code onCreate} is
 * enough:
 *
 * <pre>
 *   import dev.tracegen.runtime.android.TracegenRuntime;
 *   ...
 *   TracegenRuntime.start(this);
 * </pre>
 *
 * <p>Nothing here throws. Failures are logged under the tag {@code tracegen}, and the app goes on.
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

    /** The monitors of other Loopers, which this map does not keep alive. */
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
        Log.i(TAG, "recording; messages from the " + monitor.source() + ", idle handlers "
                + (monitor.reportsIdleHandlers() ? "available" : "not available") + ", pending messages "
                + (pending != null ? "available" : "not available"));
    }

    /**
     * Starts recording as {@code tracegen-runtime.properties} says. A recorder that runs is stopped first.
     *
     * @param context any Context of the app
     * @return false if recording is disabled or failed; a failure is logged
     */
    public static boolean start(Context context) {
        return start(context, RuntimeConfig.read(context));
    }

    /**
     * Starts recording. A recorder that runs is stopped first.
     *
     * @param context any Context of the app
     * @param config the configuration; {@link RuntimeConfig#read} returns that of the file, for changes in code
     * @return false if recording is disabled or failed; a failure is logged
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
            Log.w(TAG, "cannot record", e);
            return false;
        }
    }

    /** Stops recording, closes the file, and restores the Loopers. */
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
     * Watches another Looper too. The instrumented methods of its thread are recorded if the option {@code threads}
     * is {@code chosen} or {@code all}. The monitor ends with the Looper.
     *
     * @param looper the Looper of a {@code HandlerThread}, for instance
     * @return its monitor; null if nothing is recorded now
     */
    public static synchronized @Nullable LooperMonitor watch(Looper looper) {
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

    /** Returns the refresh rate of the display in Hz, 0 if unknown. */
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
            Log.w(TAG, "cannot create the directory " + dir + "; no recording is written");
            return null;
        }
        return file;
    }

    /** Returns the name of the process. It makes the output of each process of an app a file of its own. */
    private static String process() {
        try {
            BufferedReader in = new BufferedReader(
                    new InputStreamReader(new FileInputStream("/proc/self/cmdline"), "UTF-8"));
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
