package dev.tracegen.runtime;

import java.io.File;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Properties;

/**
 * Records an instrumented program on a plain JVM without changes to its code, as its system properties say: those of
 * {@link RecorderOptions}, with {@code tracegen.} before the key. Without {@code tracegen.output} nothing is recorded.
 *
 * <p>Every record is written into the recording. Each outermost traced call of a thread counts as a message, or the
 * calls of methods that were declared.
 */
final class JvmMode {
    private static final String PREFIX = "tracegen.";

    private JvmMode() {
    }

    /** Returns a line about each property that begins with {@code tracegen.} and does not exist. */
    static List<String> misspelled(Collection<String> properties) {
        Collection<String> known = OptionTable.keys(OptionTable.JVM);
        List<String> lines = new ArrayList<String>();
        for (String name : properties) {
            if (name.startsWith(PREFIX) && !known.contains(name.substring(PREFIX.length()))) {
                lines.add("there is no property " + name + ", and it has no effect; there are " + known);
            }
        }
        Collections.sort(lines);
        return lines;
    }

    private static void logMisspelled(Platform platform) {
        try {
            for (String line : misspelled(System.getProperties().stringPropertyNames())) {
                platform.log(line);
            }
        } catch (SecurityException e) {
            // Only single properties may be read.
        }
    }

    /** Returns the options that the properties set, null if there is no output. Logs what is wrong with them. */
    static RecorderOptions options() {
        RecorderOptions o = new RecorderOptions().platform(new JvmPlatform()).everyRecord(true);
        logMisspelled(o.platform);
        Properties set = new Properties();
        for (String key : OptionTable.keys(OptionTable.JVM)) {
            String value = property(key);
            if (value != null) {
                set.setProperty(key, value);
            }
        }
        if (set.getProperty("output", "").length() == 0) {
            return null;
        }
        for (String problem : o.apply(set, OptionTable.JVM).problems()) {
            o.platform.log(PREFIX + problem);
        }
        o.output(new File(o.get("output")).getAbsoluteFile());
        o.callMessages = new OutermostCalls(set.getProperty("message"));
        // Arguments may hold secrets, so they are recorded by choice only.
        String command = String.valueOf(System.getProperty("sun.java.command"));
        return o.meta("java.version", String.valueOf(System.getProperty("java.version")))
                .meta("sun.java.command", o.get("command").equals("full") ? command : Command.program(command));
    }

    private static String property(String name) {
        try {
            return System.getProperty(PREFIX + name);
        } catch (SecurityException e) {
            return null;
        }
    }
}
