package dev.tracegen.runtime.android;

import android.content.Context;
import dev.tracegen.runtime.RecorderOptions;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;

/**
 * What {@link TracegenRuntime} is to do. It starts from the file {@code tracegen-runtime.properties}, so that a build can
 * choose without a change of code: from the app's assets, or if it is not there, from the class path. What the file does
 * not say has its default; what it says wrongly too, and {@link #problems} tells.
 *
 * <pre>
 *   enabled        true | false                     (true)
 *   slow           milliseconds                     (700)
 *   tick           ms | us                          (ms)
 *   threads        main | chosen | all              (main)
 *   ring           records that each thread's ring  (1048576 of the main thread,
 *                  holds                            131072 of others)
 *   output         a file; relative to the app's    (tracegen/PROCESS.tgd)
 *                  files directory; none for none
 *   mapping        a file; relative to the assets;  (none) logs slow messages with their methods' names
 *   every-record   true | false                     (false: those of slow messages)
 *   source         auto | printer                   (auto: the Observer where it can be had)
 *   check          milliseconds between looks for   (60000)
 *                  another SDK's Printer
 *   idle-handlers  true | false                     (true)
 *   frames         true | false                     (false: it keeps the display busy)
 *   input-events   true | false                     (false: it stands before each window's callback)
 * </pre>
 *
 * <p>The setters return this object; {@link TracegenRuntime#start} looks at it once.
 */
public final class RuntimeConfig {
    /** The file's name, in the assets and on the class path. */
    public static final String FILE = "tracegen-runtime.properties";

    boolean enabled = true;
    String output;
    String mapping;
    boolean frames;
    boolean inputEvents;
    final RecorderOptions recorder = new RecorderOptions();
    final MonitorOptions monitor = new MonitorOptions();
    private final List<String> problems = new ArrayList<String>();

    /** The defaults. */
    public RuntimeConfig() {
    }

    /**
     * What the app's file says.
     *
     * @param context any of the app's; null to look on the class path alone
     * @return the defaults if there is no file
     */
    public static RuntimeConfig read(Context context) {
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
            config.problems.add(FILE + ": is no properties file: " + e.getMessage());
        }
        return config;
    }

    private static InputStream open(Context context) {
        try {
            if (context != null) {
                return context.getAssets().open(FILE);
            }
        } catch (Exception e) {
            // Not among the assets.
        }
        return RuntimeConfig.class.getResourceAsStream("/" + FILE);
    }

    /**
     * Takes settings over, as from the file.
     *
     * @param settings keys of the class comment's table
     * @return this
     */
    public RuntimeConfig apply(Properties settings) {
        for (String key : new TreeSet<String>(settings.stringPropertyNames())) {
            String value = settings.getProperty(key).trim();
            try {
                set(key, value);
            } catch (IllegalArgumentException e) {
                problems.add(FILE + ": " + key + "=" + value + ": " + e.getMessage() + "; the default holds");
            }
        }
        return this;
    }

    private void set(String key, String value) {
        if (key.equals("enabled")) {
            enabled = flag(value);
        } else if (key.equals("output")) {
            output = value;
        } else if (key.equals("source")) {
            monitor.source(RecorderOptions.choice(value, "auto", "printer"));
        } else if (key.equals("check")) {
            monitor.checkMillis(RecorderOptions.number(value, "milliseconds", 0, Integer.MAX_VALUE));
        } else if (key.equals("idle-handlers")) {
            monitor.idleHandlers(flag(value));
        } else if (key.equals("mapping")) {
            mapping = value;
        } else if (key.equals("frames")) {
            frames = flag(value);
        } else if (key.equals("input-events")) {
            inputEvents = flag(value);
        } else {
            recorder.set(key, value);
        }
    }

    private static boolean flag(String value) {
        return RecorderOptions.choice(value, "true", "false") == 0;
    }

    /**
     * Whether anything is to be done at all.
     *
     * @param value true if not set
     * @return this
     */
    public RuntimeConfig enabled(boolean value) {
        enabled = value;
        return this;
    }

    /**
     * The recording's file.
     *
     * @param value relative to the app's files directory; {@code none} for no file; null for the default,
     *     {@code tracegen/PROCESS.tgd}
     * @return this
     */
    public RuntimeConfig output(String value) {
        output = value;
        return this;
    }

    /**
     * Has slow messages logged with their methods' names, for a developer who looks on.
     *
     * @param value the mapping of the build: its name among the app's assets, or a file's absolute path; null for none,
     *     which is the default
     * @return this
     */
    public RuntimeConfig mapping(String value) {
        mapping = value;
        return this;
    }

    /**
     * Whether frames are recorded. To hear of each, one has to ask for each, which keeps the display busy.
     *
     * @param value false if not set
     * @return this
     */
    public RuntimeConfig frames(boolean value) {
        frames = value;
        return this;
    }

    /**
     * Whether input events, which come outside of any message, move the records' clock to the exact time when they begin
     * and end. Without, it is behind by the clock's period at most, 5 ms. For it each started activity's window gets a
     * callback that passes on to its own.
     *
     * @param value false if not set
     * @return this
     */
    public RuntimeConfig inputEvents(boolean value) {
        inputEvents = value;
        return this;
    }

    /**
     * What the recorder is to do; to be changed in place.
     *
     * @return never null; its output and platform are set by {@link TracegenRuntime#start}
     */
    public RecorderOptions recorder() {
        return recorder;
    }

    /**
     * How loopers are watched; to be changed in place.
     *
     * @return never null
     */
    public MonitorOptions monitor() {
        return monitor;
    }

    /**
     * What was wrong with the file.
     *
     * @return one line for each fault, naming the key; empty if there was none
     */
    public List<String> problems() {
        return new ArrayList<String>(problems);
    }
}
