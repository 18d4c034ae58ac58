package dev.tracegen.runtime;

import dev.tracegen.runtime.detector.Detectors;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** All options that are texts: their keys, defaults and valid values, and who may set them. */
final class OptionTable {
    // Who may set an option: a system property of a JVM, the file of an Android app, a collector for all apps.
    static final char JVM = 'j';
    static final char APP = 'a';
    static final char COLLECTOR = 'c';

    /** The key of the names of detectors. */
    static final String DETECTORS = "detectors";

    /** A kind of report may have a fraction of its own: {@code sampling.KIND}. */
    private static final String SAMPLING = "sampling";

    private static final String FLAG = "true|false";
    private static final String MILLIS = "milliseconds 1..86400000";

    // Valid values: words with | between them, UNIT LEAST..MOST with no MOST for 2^31-1, bytes, fraction, or any text.
    private static final String[][] ROWS = {
        // key, default, valid values, who may set it
        {"enabled", "true", FLAG, "ac"},
        {"slow", "700", "milliseconds 1..", "jac"},
        {"slow-idle", "2000", "milliseconds 1..", "ac"},
        {"tick", "ms", "ms|us", "ja"},
        {"threads", "main", "main|chosen|all|all,virtual", "ja"},
        {"memory", "", "bytes", "ja"},
        {"ring", "", "records 1024..67108864", "ja"},
        {"output", "", "", "ja"},
        {"mapping", "", "", "j"},
        {"every-record", "false", FLAG, "a"},
        {"message", "", "", "j"},
        {"gate", "auto", "auto|counted|off", "ja"},
        {"stacks", "", "off|main|all", "ja"},
        {"command", "", "full", "j"},
        {"file-megabytes", "", "megabytes 1..1048576", "ja"},
        {"keep-files", "", "files 1..1048576", "ja"},
        {"keep-megabytes", "", "megabytes 0..1073741824", "ja"},
        {"keep-days", "", "days 0..1048576", "ja"},
        {"check", "60000", "milliseconds 0..", "a"},
        {"idle-handlers", "true", FLAG, "a"},
        {"frames", "false", FLAG, "a"},
        {DETECTORS, "none", "", "a"},
        {"sync-barrier.poll-millis", "2000", MILLIS, "a"},
        {"watchdog.poll-millis", "5000", MILLIS, "a"},
        {"anr.lag-millis", "2000", MILLIS, "a"},
        {"native-touch.slow-millis", "5000", MILLIS, "a"},
        {"frames.dropped", "9", "dropped 1..100000", "a"},
        {"startup.slow-cold", "10000", MILLIS, "a"},
        {"startup.slow-warm", "4000", MILLIS, "a"},
        {"startup.slow-hot", "1500", MILLIS, "a"},
        {"upload", "none", "", "a"},
        {"upload-token", "", "", "a"},
        {"upload-recordings", "false", FLAG, "a"},
        {"upload-network", "unmetered", "unmetered|any", "a"},
        {"upload-user", "true", FLAG, "a"},
        {"upload-wait", "15", "minutes 0..10000", "ac"},
        {"upload-enough", "10", "reports 1..100000", "ac"},
        {"upload-per-key", "20", "reports 0..100000", "ac"},
        {"outbox-reports", "500", "reports 1..100000", "a"},
        {"outbox-megabytes", "4", "megabytes 1..1000", "a"},
        {"outbox-days", "7", "days 1..365", "a"},
        {SAMPLING, "1", "fraction", "ac"},
        {"config-key", "", "", "a"},
        {"build-id", "", "", "ja"},
        // Of the settings of a collector themselves; reports apply them.
        {"package", "", "", ""}, {"serial", "", "", ""}, {"expires", "", "", ""}, {"methods-off", "", "", ""},
    };

    private OptionTable() {
    }

    private static String[] row(String key) {
        for (String[] row : ROWS) {
            if (row[0].equals(key)) {
                return row;
            }
        }
        return key.startsWith(SAMPLING + ".") && key.length() > SAMPLING.length() + 1 ? row(SAMPLING) : null;
    }

    /** Returns the keys that someone may set. */
    static Set<String> keys(char who) {
        Set<String> keys = new TreeSet<String>();
        for (String[] row : ROWS) {
            if (row[3].indexOf(who) >= 0) {
                keys.add(row[0]);
            }
        }
        return keys;
    }

    /** Reports whether there is an option that someone may not set. */
    static boolean isDenied(String key, char who) {
        String[] row = row(key);
        return row != null && row[3].indexOf(who) < 0;
    }

    /** Returns the default of an option; empty if it is none that a text says. The key must be one of the table. */
    static String defaultOf(String key) {
        return row(key)[1];
    }

    /** Throws IllegalArgumentException, whose message says what is valid, if there is no such key or value. */
    static void check(String key, String value) {
        String[] row = row(key);
        if (row == null) {
            throw new IllegalArgumentException("unknown key");
        }
        String valid = row[2];
        int range = valid.indexOf("..");
        if (valid.indexOf('|') >= 0 || valid.equals("full")) {
            choice(value, valid.split("[|]"));
        } else if (valid.equals("bytes")) {
            bytes(value);
        } else if (valid.equals("fraction")) {
            fraction(value);
        } else if (range >= 0) {
            int unit = valid.indexOf(' ');
            number(value, valid.substring(0, unit), Integer.parseInt(valid.substring(unit + 1, range)),
                    valid.endsWith("..") ? Integer.MAX_VALUE : Integer.parseInt(valid.substring(range + 2)));
        }
    }

    /** Throws IllegalArgumentException if there is no detector of one of the names. The others are on all the same. */
    static void checkDetectors(List<String> names) {
        for (String name : names) {
            if (!Detectors.NAMES.contains(name)) {
                throw new IllegalArgumentException("there is no detector " + name + "; there are " + Detectors.NAMES
                        + "; the others are on");
            }
        }
    }

    /** Reads decimal digits. Throws IllegalArgumentException if the value is no number or out of range. */
    static int number(String value, String unit, int least, int most) {
        try {
            int n = Integer.parseInt(value);
            if (n >= least && n <= most) {
                return n;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new IllegalArgumentException("want a whole number of " + unit + ", "
                + (most == Integer.MAX_VALUE ? "at least " + least : least + " to " + most));
    }

    /** Reads a number of bytes: digits, and K or M behind them. */
    static long bytes(String value) {
        int digits = value.endsWith("K") || value.endsWith("M") ? value.length() - 1 : value.length();
        long unit = value.endsWith("K") ? 1 << 10 : value.endsWith("M") ? 1 << 20 : 1;
        try {
            long n = Integer.parseInt(value.substring(0, digits)) * unit;
            if (n >= RecorderOptions.LEAST_MEMORY) {
                return n;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new IllegalArgumentException("want a whole number of bytes, KiB or MiB of at least 1M, such as 16M");
    }

    private static void fraction(String value) {
        double f;
        try {
            f = Double.parseDouble(value);
        } catch (NumberFormatException e) {
            f = -1;
        }
        if (!(f >= 0 && f <= 1)) {
            throw new IllegalArgumentException("must be a number from 0 to 1");
        }
    }

    private static void choice(String value, String[] of) {
        StringBuilder all = new StringBuilder();
        for (int k = 0; k < of.length; k++) {
            if (of[k].equals(value)) {
                return;
            }
            all.append(k == 0 ? "" : " or ").append(of[k]);
        }
        throw new IllegalArgumentException("want " + all);
    }

    /** Sets an option that is a field, by a valid text. Returns false if it is none. */
    static boolean setField(RecorderOptions o, String key, String value) {
        switch (key) {
            case "slow":
                o.slowMillis(Integer.parseInt(value));
                break;
            case "slow-idle":
                o.slowIdleMillis = Integer.parseInt(value);
                break;
            case "tick":
                o.clockPeriodMillis(value.equals("ms") ? RecorderOptions.CLOCK_PERIOD_MILLIS : 0);
                break;
            case "threads":
                int of = Arrays.asList("main", "chosen", "all", "all,virtual").indexOf(value);
                o.threads(Math.min(of, RecorderOptions.THREADS_ALL)).virtualThreads = of > RecorderOptions.THREADS_ALL;
                break;
            case "memory":
                o.memory(bytes(value));
                break;
            case "ring":
                o.ringRecords(Integer.parseInt(value)).threadRingRecords(Integer.parseInt(value));
                break;
            case "every-record":
                o.everyRecord(value.equals("true"));
                break;
            case "gate":
                o.gate = !value.equals("off");
                o.letGo = value.equals("auto");
                break;
            case "stacks":
                o.steady = Arrays.asList("off", "main", "all").indexOf(value);
                break;
            case "file-megabytes":
                o.maxFileBytes = (long) Integer.parseInt(value) << 20;
                break;
            case "keep-files":
                o.maxFiles = Integer.parseInt(value);
                break;
            case "keep-megabytes":
                o.keepBytes = (long) Integer.parseInt(value) << 20;
                break;
            case "keep-days":
                o.keepDays = Integer.parseInt(value);
                break;
            default:
                return false;
        }
        return true;
    }
}
