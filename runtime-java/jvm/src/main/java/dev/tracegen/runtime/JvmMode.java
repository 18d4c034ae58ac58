package dev.tracegen.runtime;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/**
 * Records an instrumented program on a plain JVM without changes to its code, as these system properties say:
 *
 * <pre>
 *   -Dtracegen.output=FILE              the recording; without it nothing is written. See OutputFile for the names of
 *                                       its parts and of recordings of earlier runs
 *   -Dtracegen.threads=main|all|all,virtual
 *                                       the threads to record; main if not set. all has no virtual threads
 *   -Dtracegen.slow=MILLISECONDS        the slow threshold; 700 if not set
 *   -Dtracegen.tick=ms|us               ms, the default, updates the time of records every 5 ms; us reads the clock
 *                                       for every record
 *   -Dtracegen.memory=BYTES             what all rings and waiting records together may take, such as 16M; if not set
 *                                       a 16th of the maximal heap, from 1M to 64M
 *   -Dtracegen.mapping=FILE             logs stalls with the names of their methods; recordings do not need it
 *   -Dtracegen.message=CLASS#METHOD     methods whose calls are messages, separated by commas, or their IDs; names
 *                                       need tracegen.mapping. If not set, those of the mapping, if that is set
 *   -Dtracegen.ring=RECORDS             how large each thread's ring may get; if not set, 1048576 for the main
 *                                       thread and 131072 for others
 *   -Dtracegen.gate=auto|off            whether methods that are called most and take no time are switched off
 *                                       while too many records come; auto if not set
 *   -Dtracegen.gate.file=FILE           methods that are not recorded, see RecorderOptions.gateFile
 *   -Dtracegen.pressure=windows|wait|lose
 *                                       what happens if records come faster than they are written: short calls are
 *                                       left out for a while, threads wait, or records are lost; windows if not set
 *   -Dtracegen.command=full             records the program's arguments too, which may hold secrets; its main class
 *                                       or jar if not set
 *   -Dtracegen.message-text=short|full  see RecorderOptions.fullMessageText; short if not set
 *   -Dtracegen.file-megabytes=N, keep-files=N, keep-megabytes=N, keep-days=N
 *                                       limits of the files, see RecorderOptions.limit and keep; 64, 4, 0 and 0
 *                                       if not set, 0 for no limit
 * </pre>
 *
 * <p>Every record is written into the recording. Each outermost traced call of a thread counts as a message, or the
 * calls of methods that were declared.
 */
final class JvmMode {
    private static final String PREFIX = "tracegen.";

    /** Properties whose values {@link RecorderOptions#set} takes. */
    private static final String[] KEYS = {"threads", "slow", "tick", "memory", "ring", "gate", "pressure",
        "message-text", "file-megabytes", "keep-files", "keep-megabytes", "keep-days"};

    private static final String[] OTHER_KEYS = {"output", "mapping", "message", "gate.file", "command"};

    /** A name with as many faults is not taken for a misspelled one. */
    private static final int FAULTS = 4;

    private JvmMode() {
    }

    /**
     * Returns a line about each property that begins with {@code tracegen.} and does not exist, with the nearest name
     * that does.
     */
    static List<String> misspelled(Collection<String> properties) {
        List<String> known = new ArrayList<String>(Arrays.asList(KEYS));
        known.addAll(Arrays.asList(OTHER_KEYS));
        List<String> lines = new ArrayList<String>();
        for (String name : properties) {
            if (!name.startsWith(PREFIX) || known.contains(name.substring(PREFIX.length()))) {
                continue;
            }
            String nearest = null;
            int least = FAULTS;
            for (String key : known) {
                int faults = faults(name.substring(PREFIX.length()), key);
                if (faults < least && faults < key.length()) {
                    nearest = key;
                    least = faults;
                }
            }
            lines.add("there is no property " + name + ", and it has no effect"
                    + (nearest == null ? "" : "; did you mean " + PREFIX + nearest + "?"));
        }
        Collections.sort(lines);
        return lines;
    }

    /** Returns how many characters must be inserted, removed or replaced to make one name of the other. */
    private static int faults(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int above = row[j];
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, 1 + Math.min(above, row[j - 1]));
                diagonal = above;
            }
        }
        return row[b.length()];
    }

    private static void logMisspelled() {
        Collection<String> properties;
        try {
            properties = System.getProperties().stringPropertyNames();
        } catch (SecurityException e) {
            return;
        }
        for (String line : misspelled(properties)) {
            new JvmPlatform().log(line);
        }
    }

    /** Returns the options that the properties set, null if there is no output. Logs properties that do not exist. */
    static RecorderOptions options() {
        logMisspelled();
        String output = property("output");
        if (output == null || output.length() == 0) {
            return null;
        }
        RecorderOptions o = new RecorderOptions().platform(new JvmPlatform()).output(new File(output).getAbsoluteFile())
                .everyRecord(true);
        o.callMessages = new OutermostCalls(property("message"));
        for (String key : KEYS) {
            String value = property(key);
            try {
                if (value != null) {
                    o.set(key, value);
                }
            } catch (IllegalArgumentException e) {
                o.platform.log(PREFIX + key + "=" + value + ": " + e.getMessage() + "; the default is used");
            }
        }
        String mapping = property("mapping");
        if (mapping != null) {
            o.mapping(new MappingReader(new File(mapping)));
        }
        String gateFile = property("gate.file");
        if (gateFile != null) {
            o.gateFile(new File(gateFile));
        }
        return o.meta("java.version", String.valueOf(System.getProperty("java.version")))
                .meta("sun.java.command", command(o));
    }

    /** Returns the program. Its arguments may hold secrets, so they are recorded by choice only. */
    private static String command(RecorderOptions o) {
        String all = String.valueOf(System.getProperty("sun.java.command"));
        String full = property("command");
        if (full != null && !full.equals("full")) {
            o.platform.log(PREFIX + "command=" + full + ": want full; the arguments of the program are not recorded");
        }
        return "full".equals(full) ? all : Command.program(all);
    }

    private static String property(String name) {
        try {
            return System.getProperty(PREFIX + name);
        } catch (SecurityException e) {
            return null;
        }
    }
}
