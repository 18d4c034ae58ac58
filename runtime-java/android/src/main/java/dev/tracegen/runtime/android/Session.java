package dev.tracegen.runtime.android;

import android.content.Context;
import android.content.pm.PackageInfo;
import android.os.Build;
import android.os.Handler;
import android.os.Looper;
import android.util.Log;
import dev.tracegen.runtime.PostedBy;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.ThreadTrace;
import dev.tracegen.runtime.detector.Anr;
import dev.tracegen.runtime.detector.Detectors;
import dev.tracegen.runtime.detector.ThreadSchedule;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What runs between a start and a stop. It begins in three steps: on the thread of the caller, which must not wait;
 * on the thread of {@link Background}, which reads and opens files and starts the recorder; and in a message of the
 * main thread, which installs the monitor, because other code sets the Looper's printer on that thread too.
 *
 * <p>It may be stopped at any time on any thread, also between and during these steps. No lock covers that. Instead,
 * each step stores what it made in a volatile field and then reads {@link #stopped}; {@link #stop} sets it and then
 * reads the fields. So at least one of the two sees the other and ends what was made.
 */
final class Session implements Runnable {
    /** Whether a session has set the recorder's reporter. One that the app has set itself stays. */
    private static final AtomicBoolean REPORTER_SET = new AtomicBoolean();

    private final Context context;
    private final RecorderOptions given;
    private final ActivityEvents activities;
    private volatile boolean stopped;
    private volatile RecorderOptions config;
    private volatile Recorder recorder;
    private volatile LooperMonitor monitor;
    private volatile FrameTimes frames;
    private volatile Reports reporting;

    /** Made when the first detector is switched on, with the detectors' thread. Set by the thread of Background. */
    private volatile Detectors detectors;

    /** Set and read while the detectors are created, on the thread of Background; null if it could not be created. */
    private Anr anr;

    /**
     * The other Loopers, and whether each is watched yet, by the monitor that the Looper itself keeps. Guarded by
     * itself. It keeps no Looper alive.
     */
    private final WeakHashMap<Looper, Boolean> others = new WeakHashMap<Looper, Boolean>();

    /**
     * Creates a session that does nothing yet.
     *
     * @param config null to read it from the app's file
     */
    Session(Context context, RecorderOptions config) {
        this.context = context;
        this.given = config;
        this.activities = new ActivityEvents(context);
    }

    /** Returns what reports frames. Only behind the start of the recorder. */
    FrameTimes frameTimes() {
        return frames;
    }

    /** Returns what the activities do. */
    ActivityEvents activities() {
        return activities;
    }

    /** Keeps the detector anr for {@link #anr()}. */
    void anr(Anr detector) {
        anr = detector;
    }

    /** Returns the detector anr, which gets the signals that sigquit notices; null if it could not be created. */
    Anr anr() {
        return anr;
    }

    /** Begins. To be called once. */
    void begin() {
        // At once: an activity may be started before the files are read.
        activities.register();
        PostedBy.begin(new PostTargets());
        if (given != null && Looper.myLooper() == Looper.getMainLooper()) {
            // The app may ask for this monitor next, and should get one with these options.
            openMonitor(given);
        }
        Background.run(this);
    }

    /** Reads what has to be read, and starts the recorder. On the thread of Background. */
    @Override
    public void run() {
        if (stopped) {
            return;
        }
        // First of all: it is that of a process that has just begun.
        activities.readImportance();
        RecorderOptions c = given != null ? given : TracegenRuntime.options(context);
        String process = ProcessName.read();
        Reports reports = Reports.prepare(context, this, c, process);
        if (!c.flag("enabled")) {
            disable(c);
            stop();
            TracegenRuntime.ended(this);
            if (reports != null) {
                reports.begin(null, null);
            }
            return;
        }
        logProblems(c);
        AndroidPlatform platform = new AndroidPlatform();
        c.platform(platform).appDefaults();
        File output = OutputPath.of(context, c.get("output"), process);
        platform.context(context);
        c.output(output);
        c.meta("package", context.getPackageName()).meta("process", process);
        c.meta("sdk", Integer.toString(Build.VERSION.SDK_INT));
        describeVersion(c);
        ExitInfo.describe(c);
        config = c;
        if (REPORTER_SET.getAndSet(false)) {
            Recorder.setReporter(null, null);
        }
        Recorder r = Recorder.start(c);
        recorder = r;
        if (stopped) {
            r.stop();
            return;
        }
        if (reports != null) {
            reporting = reports;
            reports.begin(r, output == null ? null : output.getParentFile());
            if (stopped) {
                reports.stop();
                return;
            }
        }
        ExitInfo.begin(context, output, process, c);
        activities.reportForeground(r);
        activities.first(r.firstNanos());
        frames = new FrameTimes(r, Refresh.of(context), activities, c.flag("frames"));
        for (Looper looper : looperList()) {
            open(looper);
        }
        new Handler(Looper.getMainLooper()).postAtFrontOfQueue(new Runnable() {
            @Override
            public void run() {
                install();
            }
        });
        List<String> names = c.names("detectors");
        if (!names.contains("startup")) {
            activities.forgetStarts();
        }
        for (String name : names) {
            switchDetector(name, true);
        }
    }

    /**
     * Switches a detector on or off, now or as soon as there is a recorder. Returns at once.
     *
     * @return false if the session has ended, or if there is no detector of that name
     */
    boolean detector(final String name, final boolean on) {
        if (stopped || !Detectors.NAMES.contains(name)) {
            return false;
        }
        // Tasks run in order, and the first one of the session starts the recorder.
        Background.run(new Runnable() {
            @Override
            public void run() {
                switchDetector(name, on);
            }
        });
        return true;
    }

    /** On the thread of Background. */
    private void switchDetector(String name, boolean on) {
        Detectors d = detectors;
        Recorder r = recorder;
        if (stopped || r == null || d == null && !on) {
            return;
        }
        if (d == null) {
            Looper main = Looper.getMainLooper();
            LooperAccess loop = new LooperAccess(main, r.thread(main.getThread()));
            d = new Detectors(r, loop, new ThreadSchedule(r.platform()));
            DetectorTable.addTo(d, this, context, config);
            detectors = d;
            if (stopped) {
                end(r, d);
                return;
            }
        }
        d.set(name, on);
    }

    /** Reports the main thread's messages to the recorder. On the main thread. */
    private void install() {
        if (stopped) {
            return;
        }
        try {
            Looper main = Looper.getMainLooper();
            ThreadTrace trace = recorder.thread(main.getThread());
            QueueSnapshot pending = QueueSnapshot.of(main);
            trace.setPendingQueue(pending);
            LooperMonitor m = openMonitor(config);
            m.addFirst(new RecorderListener(trace));
            m.add(activities.focusSearch());
            if (config.flag("frames")) {
                m.add(frames);
            }
            Log.i(TracegenRuntime.TAG, "recording; source of messages: " + m.source() + ", idle handlers "
                    + (m.reportsIdleHandlers() ? "available" : "not available") + ", pending messages "
                    + (pending != null ? "available" : "not available"));
        } catch (Throwable e) {
            Log.w(TracegenRuntime.TAG, "cannot observe the main thread", e);
        }
    }

    private LooperMonitor openMonitor(RecorderOptions c) {
        LooperMonitor m = monitor;
        if (m == null) {
            m = LooperMonitor.of(Looper.getMainLooper(), c);
            monitor = m;
            if (stopped) {
                m.release();
            }
        }
        return m;
    }

    /** Notes that the reporter of the recorder is that of a session. */
    static void reporterSet() {
        REPORTER_SET.set(true);
    }

    /** Stops recording, because the collector has switched it off. Settings are fetched still. */
    void switchedOff() {
        reporting = null;
        stop();
        TracegenRuntime.ended(this);
    }

    /** Stops recording. Does not wait, and has no effect the second time. */
    void stop() {
        stopped = true;
        PostedBy.end();
        Recorder r = recorder;
        Reports reports = reporting;
        if (reports != null) {
            reports.stop();
        }
        try {
            activities.unregister();
            if (frames != null) {
                frames.stop();
            }
            if (monitor != null) {
                monitor.release();
            }
            for (Looper looper : looperList()) {
                close(looper);
            }
        } catch (Throwable e) {
            Log.w(TracegenRuntime.TAG, "cannot restore the Looper", e);
        } finally {
            end(r, detectors);
        }
    }

    /** The version distinguishes releases: two builds with the same methods have the same mapping. */
    private void describeVersion(RecorderOptions c) {
        try {
            PackageInfo info = context.getPackageManager().getPackageInfo(context.getPackageName(), 0);
            c.metaIfAbsent("versionName", info.versionName)
                    .metaIfAbsent("versionCode", Integer.toString(info.versionCode));
        } catch (Throwable e) {
            // The recording does not name its version then.
        }
    }

    /** Stops the detectors, and then the recorder, because detectors may report something when they end. */
    private static void end(final Recorder r, Detectors d) {
        if (r != null && d != null) {
            d.stop(new Runnable() {
                @Override
                public void run() {
                    r.stop();
                }
            });
        } else if (r != null) {
            r.stop();
        }
    }

    /** Watches another Looper, now or as soon as there is a recorder. Returns false if the session has ended. */
    boolean watch(Looper looper) {
        if (stopped) {
            return false;
        }
        if (looper != Looper.getMainLooper()) {
            synchronized (others) {
                if (!others.containsKey(looper)) {
                    others.put(looper, false);
                }
            }
            if (recorder != null) {
                open(looper);
            }
        }
        return true;
    }

    private List<Looper> looperList() {
        synchronized (others) {
            return new ArrayList<Looper>(others.keySet());
        }
    }

    /** Watches a Looper, if that was not done yet. The recorder has started. */
    private void open(Looper looper) {
        synchronized (others) {
            if (!Boolean.FALSE.equals(others.get(looper))) {
                return;
            }
            others.put(looper, true);
        }
        RecorderOptions c = config;
        ThreadTrace trace = recorder.thread(looper.getThread());
        trace.setPendingQueue(QueueSnapshot.of(looper));
        LooperMonitor.of(looper, c).addFirst(new RecorderListener(trace));
        if (stopped) {
            close(looper);
        }
    }

    private void close(Looper looper) {
        LooperMonitor m = LooperMonitor.existing(looper);
        synchronized (others) {
            if (m == null || !Boolean.TRUE.equals(others.get(looper))) {
                return;
            }
        }
        m.release();
    }

    /** Releases what the first records took, because nothing will be recorded. */
    static void disable(RecorderOptions config) {
        logProblems(config);
        Recorder.disable();
    }

    private static void logProblems(RecorderOptions config) {
        for (String problem : config.problems()) {
            Log.w(TracegenRuntime.TAG, TracegenRuntime.FILE + ": " + problem);
        }
    }
}
