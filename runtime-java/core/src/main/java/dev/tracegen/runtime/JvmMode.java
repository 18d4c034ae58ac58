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
 *   -Dtracegen.mapping=FILE             logs slow calls with their methods' names; recordings need it not
 *   -Dtracegen.ring=RECORDS             of each thread; 1048576 of the main one, 131072 of others if not given
 * </pre>
 *
 * <p>Every record goes into the recording. Each outermost traced call of a thread is what a message is on Android.
 */
final class JvmMode {
    /** How long the end of the program waits for the recording to be written. */
    private static final long EXIT_TIMEOUT_MILLIS = 20000;

    private static final String[] KEYS = {"threads", "slow", "tick", "ring"};

    private JvmMode() {
    }

    /** What the properties ask for, null if for nothing. */
    static RecorderOptions options() {
        String output = property("output");
        if (output == null || output.length() == 0) {
            return null;
        }
        RecorderOptions o = new RecorderOptions().platform(new JvmPlatform()).output(new File(output).getAbsoluteFile())
                .everyRecord(true);
        o.outermostCalls = true;
        for (String key : KEYS) {
            String value = property(key);
            try {
                if (value != null) {
                    o.set(key, value);
                }
            } catch (IllegalArgumentException e) {
                o.platform.log("tracegen." + key + "=" + value + ": " + e.getMessage() + "; the default holds");
            }
        }
        String mapping = property("mapping");
        if (mapping != null) {
            o.mapping(new MappingReader(new File(mapping)));
        }
        if (o.tickNanos < RecorderOptions.MILLISECOND) {
            o.clockPeriodMillis(0);
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

    /** Has the recording finished when the program ends: by its last thread, by exit, or by a signal. */
    static void stopOnExit(final Recorder recorder) {
        Runtime.getRuntime().addShutdownHook(new RecorderThread(new Runnable() {
            @Override
            public void run() {
                recorder.stop();
            }
        }, "tracegen-exit"));
    }

    static long exitTimeoutMillis() {
        return EXIT_TIMEOUT_MILLIS;
    }
}
