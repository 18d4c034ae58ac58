package dev.tracegen.runtime.android;

import android.content.Context;
import dev.tracegen.runtime.RecorderOptions;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of {@link TracegenRuntime}. It is read from the file {@code tracegen-runtime.properties} in the
 * app's assets, or from the class path if the assets have none, so that a build can change it without a change of
 * code. A key that is missing or has a wrong value keeps its default; {@link #problems} reports wrong values.
 *
 * <pre>
 *   enabled        true | false                     (true)
 *   preset         matrix | blockcanary |           (none) settings of other tools; keys of this file win
 *                  blockcanary-context |
 *                  blockcanaryx | articles
 *   slow           milliseconds                     (700) the slow threshold
 *   slow-idle      milliseconds                     (2000) the threshold of IdleHandlers
 *   slow-input     milliseconds                     (700) the threshold of input events
 *   tick           ms | us                          (ms)
 *   threads        main | chosen | all              (main)
 *   ring           number of records in the ring    (1048576 for the main thread,
 *                  of each thread                   131072 for others)
 *   output         a file, relative to the app's    (tracegen/PROCESS.tgd)
 *                  directory that no backup takes;
 *                  none for none
 *   mapping        a file, relative to the assets   (none) logs stalls with the names of their methods
 *   every-record   true | false                     (false: only the records of stalls)
 *   gate           auto | off                       (auto: with every-record, methods that are called most
 *                                                   and take no time are switched off)
 *   pressure       windows | wait | lose            (windows: with every-record, what happens when records
 *                                                   come faster than they are written)
 *   message-text   short | full                     (short: classes and what; full: what toString returns too)
 *   file-megabytes size of a file                   (8: then the recording goes on in another one)
 *   keep-files     number of files                  (100)
 *   keep-megabytes size of all files                (32)
 *   keep-days      age of a file                    (7)
 *   source         auto | printer                   (auto: the Looper's Observer if it can be set)
 *   check          milliseconds between checks      (60000)
 *                  whether other code has replaced
 *                  the Observer or Printer
 *   idle-handlers  true | false                     (true)
 *   frames         true | false                     (false: it needs the printer) writes each frame; the detector
 *                                                   of the same name is another matter
 *   input-events   true | false                     (false: it wraps the callback of each window) slow input
 *                                                   events are stalls
 *   hidden-api     true | false                     (true: uses members of Android that are not public API
 *                                                   where Android allows it)
 *   process-state-summary  true | false             (false: see {@link #processStateSummary})
 *   detectors      names with commas between them,  (none) the detectors that are on from the begin
 *                  or none
 *   NAME.key       a setting of the detector NAME
 *   upload         https://...                      (none: nothing is reported) the collector
 *   notify         true | false                     (false: for debug builds, shows stalls in a notification)
 * </pre>
 *
 * <p>docs/reporting.md has the other keys about reports.
 *
 * <p>The setters return this object. {@link TracegenRuntime#start} reads it once.
 */
public final class RuntimeConfig {
    /** The name of the file in the assets and on the class path. */
    public static final String FILE = "tracegen-runtime.properties";

    // How much of the user's device all recordings of a process may take. The number of files hardly matters: most have
    // one stall.
    private static final long FILE_BYTES = 8L << 20;
    private static final int FILES = 100;
    private static final long KEPT_BYTES = 32L << 20;
    private static final int KEPT_DAYS = 7;

    boolean enabled = true;
    String output;
    String mapping;
    boolean frames;
    boolean inputEvents;
    boolean processStateSummary;
    final ReportSettings reports = new ReportSettings();
    final List<String> detectors = new ArrayList<String>();

    /** Keys are {@code NAME.key}. */
    final Properties detectorSettings = new Properties();
    final RecorderOptions recorder = new RecorderOptions();
    final MonitorOptions monitor = new MonitorOptions();
    private final List<String> problems = new ArrayList<String>();

    /** Creates the default configuration. */
    public RuntimeConfig() {
        recorder.limit(FILE_BYTES, FILES).keep(KEPT_BYTES, KEPT_DAYS);
    }

    /**
     * Reads the app's file.
     *
     * @param context any Context of the app; null to read only the class path
     * @return the defaults if there is no file
     */
    public static RuntimeConfig read(@Nullable Context context) {
        RuntimeConfig config = new RuntimeConfig();
        InputStream in = open(context);
        if (in == null) {
            return config;
        }
        Properties p = new Properties();
        try {
            try {
                p.load(in);
            } finally {
                in.close();
            }
            config.apply(p);
        } catch (IOException e) {
            config.problems.add(FILE + ": cannot be read: " + e.getMessage());
        } catch (IllegalArgumentException e) {
            config.problems.add(FILE + ": is not a properties file: " + e.getMessage());
        }
        return config;
    }

    private static InputStream open(Context context) {
        try {
            if (context != null) {
                return context.getAssets().open(FILE);
            }
        } catch (Exception e) {
            // The assets do not have it.
        }
        return RuntimeConfig.class.getResourceAsStream("/" + FILE);
    }

    /**
     * Applies settings as they would be in the file.
     *
     * @param settings keys of the table above
     * @return this
     */
    public RuntimeConfig apply(Properties settings) {
        Properties all = Presets.apply(settings);
        for (String key : new TreeSet<String>(all.stringPropertyNames())) {
            String value = all.getProperty(key).trim();
            try {
                set(key, value);
            } catch (IllegalArgumentException e) {
                problems.add(FILE + ": " + key + "=" + value + ": " + e.getMessage()
                        + (key.equals("detectors") ? "" : "; the default is used"));
            }
        }
        return this;
    }

    private void set(String key, String value) {
        if (key.equals("enabled")) {
            enabled = flag(value);
        } else if (key.equals("preset")) {
            Presets.refuse();
        } else if (key.equals("output")) {
            output = value;
        } else if (key.equals("source")) {
            monitor.source(RecorderOptions.choice(value, "auto", "printer"));
        } else if (key.equals("check")) {
            monitor.checkMillis(RecorderOptions.number(value, "milliseconds", 0, Integer.MAX_VALUE));
        } else if (key.equals("idle-handlers")) {
            monitor.idleHandlers(flag(value));
        } else if (key.equals("hidden-api")) {
            monitor.hiddenApi(flag(value));
        } else if (key.equals("mapping")) {
            mapping = value;
        } else if (key.equals("frames")) {
            frames = flag(value);
        } else if (key.equals("input-events")) {
            inputEvents = flag(value);
        } else if (key.equals("process-state-summary")) {
            processStateSummary = flag(value);
        } else if (reports.set(key, value)) {
            return;
        } else if (key.equals("detectors")) {
            setDetectors(value);
        } else if (key.indexOf('.') > 0) {
            DetectorTable.checkSetting(key, value);
            detectorSettings.setProperty(key, value);
        } else {
            recorder.set(key, value);
        }
    }

    /** Sets the detectors whose names are valid, and reports the first other one. */
    private void setDetectors(String value) {
        detectors.clear();
        IllegalArgumentException wrong = null;
        for (String s : value.equals("none") ? new String[0] : value.split(",")) {
            String name = s.trim();
            try {
                DetectorTable.checkName(name);
                detectors.add(name);
            } catch (IllegalArgumentException e) {
                wrong = wrong == null ? e : wrong;
            }
        }
        if (wrong != null) {
            throw new IllegalArgumentException(wrong.getMessage() + "; the others are on");
        }
    }

    /** Returns the options of the main Looper's monitor. */
    MonitorOptions monitorOptions() {
        return frames || detectors.contains("frames") ? monitor.source(MonitorOptions.PRINTER) : monitor;
    }

    private static boolean flag(String value) {
        return RecorderOptions.choice(value, "true", "false") == 0;
    }

    /**
     * Sets whether {@link TracegenRuntime#start} records.
     *
     * @param value true if not set
     * @return this
     */
    public RuntimeConfig enabled(boolean value) {
        enabled = value;
        return this;
    }

    /**
     * Sets the file of the recording.
     *
     * @param value absolute, or relative to the app's directory that no backup takes ({@code getNoBackupFilesDir}; the
     *     files directory before Android 5); {@code none} for no file; null for the default,
     *     {@code tracegen/PROCESS.tgd}. In a process other than the app's main one, {@code app.tgd} becomes
     *     {@code app-PROCESS.tgd}
     * @return this
     */
    public RuntimeConfig output(@Nullable String value) {
        output = value;
        return this;
    }

    /**
     * Logs each stall with the names of its methods, for a developer who reads the log.
     *
     * @param value the mapping of the build: its name in the assets or the absolute path of a file; null for none,
     *     which is the default
     * @return this
     */
    public RuntimeConfig mapping(@Nullable String value) {
        mapping = value;
        return this;
    }

    /**
     * Sets whether each frame is written into the recording, whether or not the detector {@code frames} is on. No frame
     * is requested for that. Which message draws a frame is known only by the Looper's {@code Printer}, so it is used
     * instead of the {@code Observer}.
     *
     * @param value false if not set
     * @return this
     */
    public RuntimeConfig frames(boolean value) {
        frames = value;
        return this;
    }

    /**
     * Sets whether input events are recorded as messages are. Most of them run outside of messages. One that lasts at
     * least {@link RecorderOptions#slowInputMillis} is a stall. The {@code Window.Callback} of each window is wrapped
     * that can be found: those of activities, and those of dialogs where Android lets the app list its root views and
     * find their windows. {@link TracegenRuntime#watchWindow} adds others.
     *
     * @param value false if not set
     * @return this
     */
    public RuntimeConfig inputEvents(boolean value) {
        inputEvents = value;
        return this;
    }

    /**
     * Sets whether the runtime calls {@code ActivityManager.setProcessStateSummary} with the time at which this process
     * started (Android 11 and newer). A later process then finds out beyond doubt which recording belongs to which
     * {@code ApplicationExitInfo}; without it, it goes by process IDs and times. A process has one summary: this
     * replaces the one of the app or of another SDK.
     *
     * @param value false if not set
     * @return this
     */
    public RuntimeConfig processStateSummary(boolean value) {
        processStateSummary = value;
        return this;
    }

    /**
     * Sets which detectors are on from the begin. {@link TracegenRuntime#detector} switches them later.
     *
     * @param names the names, as in {@code docs/detectors.md}; none if not set
     * @return this
     * @throws IllegalArgumentException if there is no detector of a name; the others are set then
     */
    public RuntimeConfig detectors(String... names) {
        StringBuilder all = new StringBuilder();
        for (String name : names) {
            all.append(all.length() == 0 ? "" : ",").append(name);
        }
        setDetectors(all.length() == 0 ? "none" : all.toString());
        return this;
    }

    /**
     * Returns the options of the recorder, to be changed in place.
     *
     * @return never null; {@link TracegenRuntime#start} sets the output and the platform
     */
    public RecorderOptions recorder() {
        return recorder;
    }

    /**
     * Returns the options of the LooperMonitors, to be changed in place.
     *
     * @return never null
     */
    public MonitorOptions monitor() {
        return monitor;
    }

    /**
     * Returns the faults of the file.
     *
     * @return one line for each wrong key or value; empty if there is none
     */
    public List<String> problems() {
        return new ArrayList<String>(problems);
    }
}
