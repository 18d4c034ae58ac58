package dev.tracegen.runtime;

import java.io.File;

/**
 * Recording without a line of code: an instrumented program on a plain JVM, with the runtime on its class path and
 *
 * <pre>
 *   -Dtracegen.output=FILE              where the recording goes; without it nothing is kept
 *   -Dtracegen.threads=main|all         main if not given
 *   -Dtracegen.slow=MILLISECONDS        700 if not given
 *   -Dtracegen.tick=ms|us               us reads the clock for every record
 * </pre>
 *
 * <p>Every record goes into the recording. Each outermost traced call of a thread is what a message is on Android.
 */
final class JvmMode {
    /** How long the end of the program waits for the recording to be written. */
    private static final long PATIENCE_MILLIS = 20000;

    private JvmMode() {
    }

    /** What the properties ask for, null if for nothing. */
    static RecorderOptions options() {
        String output = property("output");
        if (output == null || output.length() == 0) {
            return null;
        }
        RecorderOptions o = new RecorderOptions().output(new File(output).getAbsoluteFile()).everyRecord(true);
        o.outermostCalls = true;
        if (oneOf(o, "threads", "main", "all")) {
            o.threads(RecorderOptions.THREADS_ALL);
        }
        if (oneOf(o, "tick", "ms", "us")) {
            o.tickNanos(1000).clockPeriodMillis(0);
        }
        String slow = property("slow");
        if (slow != null) {
            try {
                o.slowMillis(Integer.parseInt(slow));
            } catch (NumberFormatException e) {
                o.platform.log("tracegen.slow=" + slow + " is no number of milliseconds; using " + o.slowMillis);
            }
        }
        return o.meta("java.version", String.valueOf(System.getProperty("java.version")))
                .meta("sun.java.command", String.valueOf(System.getProperty("sun.java.command")));
    }

    private static String property(String name) {
        try {
            return System.getProperty("tracegen." + name);
        } catch (SecurityException e) {
            return null;
        }
    }

    /** Whether a property has the second of its two values. */
    private static boolean oneOf(RecorderOptions o, String name, String usual, String other) {
        String value = property(name);
        if (value != null && !value.equals(usual) && !value.equals(other)) {
            o.platform.log("tracegen." + name + "=" + value + " is neither " + usual + " nor " + other + "; using " + usual);
        }
        return other.equals(value);
    }

    /** Has the recording finished when the program ends: by its last thread, by exit, or by a signal. */
    static void stopOnExit(final Recorder recorder) {
        Runtime.getRuntime().addShutdownHook(new RecorderThread(new Runnable() {
            @Override
            public void run() {
                recorder.stop();
            }
        }, "tracegen-exit"));
    }

    static long patienceMillis() {
        return PATIENCE_MILLIS;
    }
}
