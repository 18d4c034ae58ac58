package dev.tracegen.runtime.android;

import android.app.ActivityManager;
import android.content.Context;
import android.os.Process;
import android.os.SystemClock;
import android.util.Log;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.UnfinishedRecording;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Says in the recordings of earlier processes how these ended: what {@code ApplicationExitInfo} of Android 11 and newer
 * has of a process is appended to the recording that it left unfinished. It runs on a thread of its own, some time
 * after the start, when the app has less to do. The system keeps the last 16 ends of an app's processes, so a process
 * that does not live that long leaves the work to a later one.
 *
 * <p>The class is called by reflection, because the library is compiled against an older version. All its methods are
 * public API.
 */
final class ExitInfo implements Runnable {
    /** How long the app has for its own start. */
    private static final long DELAY_MILLIS = 10000;

    /** An earlier process's recording is left alone if nothing was written to it for so long. */
    private static final long OLDEST_MILLIS = 7 * 86400000L;

    private static final int MAX_TRACE = 256 << 10;

    /** The clock may have been set by so much between a start and an end of a process. */
    private static final long CLOCK_MILLIS = 2000;


    private static final int ANR = 6;

    /** The names of the constants {@code ApplicationExitInfo.REASON_...}, in their order. */
    private static final String[] REASONS = {"unknown", "exit-self", "signaled", "low-memory", "crash", "crash-native",
        "anr", "initialization-failure", "permission-change", "excessive-resource-usage", "user-requested",
        "user-stopped", "dependency-died", "other", "freezer", "package-state-change", "package-updated"};

    /** Null before Android 11. */
    private static final Method EXITS = Reflection.method(ActivityManager.class, "getHistoricalProcessExitReasons",
            String.class, int.class, int.class);

    /** When this process was started, in milliseconds since 1970. Computed once, so that all who say it agree. */
    private static final long START_MILLIS = startMillis();

    private final Context context;
    private final File output;
    private final String process;
    private final RecorderOptions options;
    private final long delayMillis;

    /**
     * Creates a task.
     *
     * @param output the file of this process's recording; earlier ones are beside it
     * @param options whose redactor gets what the system says
     */
    ExitInfo(Context context, File output, String process, RecorderOptions options, long delayMillis) {
        this.context = context;
        this.output = output;
        this.process = process;
        this.options = options;
        this.delayMillis = delayMillis;
    }

    /** Adds to META what a later process finds the end of this process by. Never throws. */
    static void describe(RecorderOptions options) {
        try {
            options.meta("pid", String.valueOf(pid())).meta("startWallMillis", String.valueOf(START_MILLIS));
        } catch (Throwable e) {
            Log.w("tracegen", "the ID of this process is not known", e);
        }
    }

    static long pid() throws IOException {
        try {
            return Process.myPid();
        } catch (Throwable e) {
            // Android's own tests have no natives. This link leads to the directory of the process.
            return Long.parseLong(new File("/proc/self").getCanonicalFile().getName());
        }
    }

    /** Begins the work on a thread of its own. Never throws. */
    static void begin(Context context, File output, String process, RecorderOptions options) {
        try {
            if (output == null || EXITS == null) {
                return;
            }
            Thread t = new Thread(new ExitInfo(context, output, process, options, DELAY_MILLIS), "tracegen-exits");
            t.setDaemon(true);
            t.start();
        } catch (Throwable e) {
            Log.w("tracegen", "cannot ask how earlier processes ended", e);
        }
    }

    /** Before Android 7 it is not known exactly, and the time of the call is returned. */
    private static long startMillis() {
        long age = 0;
        try {
            Method start = Reflection.method(Process.class, "getStartElapsedRealtime");
            age = start == null ? 0 : SystemClock.elapsedRealtime() - (Long) start.invoke(null);
        } catch (Throwable e) {
            // As before Android 7.
        }
        return System.currentTimeMillis() - age;
    }

    @Override
    public void run() {
        try {
            Process.setThreadPriority(Process.THREAD_PRIORITY_BACKGROUND);
        } catch (Throwable e) {
            // It works without.
        }
        try {
            Object manager = context.getSystemService(Context.ACTIVITY_SERVICE);
            Thread.sleep(delayMillis);
            joinAll(manager);
        } catch (Throwable e) {
            Log.w("tracegen", "cannot find out how earlier processes ended", e);
        }
    }

    private void joinAll(Object manager) throws Exception {
        File[] files = output.getAbsoluteFile().getParentFile().listFiles();
        Pattern names = names(output.getName());
        List<?> exits = null;
        for (File f : files == null ? new File[0] : files) {
            // No other file is opened: closing one would end the locks that this process may have on it.
            if (!names.matcher(f.getName()).matches()
                    || System.currentTimeMillis() - f.lastModified() > OLDEST_MILLIS) {
                continue;
            }
            UnfinishedRecording recording = null;
            try {
                recording = UnfinishedRecording.open(f);
                if (recording == null || !process.equals(recording.meta().get("process"))) {
                    continue;
                }
                if (exits == null) {
                    exits = exits(manager);
                }
                join(recording, f.lastModified(), exits);
            } catch (IOException e) {
                Log.w("tracegen", "cannot say in " + f + " how its process ended", e);
            } finally {
                if (recording != null) {
                    recording.close();
                }
            }
        }
    }

    /** Matches the files of this process: {@code app.tgd}, {@code app.part1.tgd}, {@code app-4711.tgd.2} and so on. */
    static Pattern names(String output) {
        int dot = output.lastIndexOf('.');
        String stem = dot > 0 ? output.substring(0, dot) : output;
        return Pattern.compile(Pattern.quote(stem) + "([.-][0-9]+)?(\\.part[0-9]+)?"
                + Pattern.quote(output.substring(stem.length())) + "(\\.[0-9]+)?");
    }

    private List<?> exits(Object manager) throws Exception {
        Object list = manager == null || EXITS == null ? null
                : EXITS.invoke(manager, context.getPackageName(), 0, 0);
        return list instanceof List ? (List<?>) list : Collections.emptyList();
    }

    /** Appends the end of a recording's process, if the system has it. */
    private void join(UnfinishedRecording recording, long written, List<?> exits) throws Exception {
        Map<String, String> meta = recording.meta();
        Long pid = number(meta.get("pid"));
        Long start = number(meta.get("startWallMillis"));
        if (pid == null || start == null || pid == pid()) {
            return;
        }
        Object found = null;
        long foundAt = 0;
        for (Object exit : exits) {
            long at = ((Number) Reflection.call(exit, "getTimestamp")).longValue();
            if (((Number) Reflection.call(exit, "getPid")).longValue() != pid
                    || !process.equals(Reflection.call(exit, "getProcessName"))) {
                continue;
            }
            // Another process may have had this ID: of those that ended later than this one wrote, the first is meant.
            if (at >= Math.max(start, written) - CLOCK_MILLIS && (found == null || at < foundAt)) {
                found = exit;
                foundAt = at;
            }
        }
        if (found != null) {
            Map<String, String> values = values(found);
            values.put("joinedBy", "pid");
            recording.append(values, options);
        }
    }

    private static Map<String, String> values(Object exit) throws Exception {
        Map<String, String> values = new TreeMap<String, String>();
        int reason = ((Number) Reflection.call(exit, "getReason")).intValue();
        values.put("reason", reason >= 0 && reason < REASONS.length ? REASONS[reason] : "reason-" + reason);
        put(values, "status", Reflection.call(exit, "getStatus"));
        put(values, "description", Reflection.call(exit, "getDescription"));
        put(values, "wallMillis", Reflection.call(exit, "getTimestamp"));
        put(values, "importance", Reflection.call(exit, "getImportance"));
        put(values, "pssKb", Reflection.call(exit, "getPss"));
        put(values, "rssKb", Reflection.call(exit, "getRss"));
        put(values, "pid", Reflection.call(exit, "getPid"));
        // The trace of a native crash is no text.
        if (reason == ANR) {
            put(values, "trace", trace(exit));
        }
        return values;
    }

    private static void put(Map<String, String> values, String key, Object value) {
        if (value != null) {
            values.put(key, String.valueOf(value));
        }
    }

    /** Returns the begin of the trace of an ANR, in which the main thread is the first; null if there is none. */
    private static String trace(Object exit) {
        try (InputStream in = (InputStream) Reflection.call(exit, "getTraceInputStream")) {
            if (in == null) {
                return null;
            }
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] buffer = new byte[8192];
            for (int n = 0; n >= 0 && out.size() < MAX_TRACE;) {
                n = in.read(buffer, 0, Math.min(buffer.length, MAX_TRACE - out.size()));
                out.write(buffer, 0, Math.max(0, n));
            }
            return out.toString("UTF-8");
        } catch (Throwable e) {
            Log.w("tracegen", "cannot read the trace of an ANR", e);
            return null;
        }
    }

    private static Long number(String text) {
        try {
            return text == null ? null : Long.valueOf(text);
        } catch (NumberFormatException e) {
            return null;
        }
    }
}
