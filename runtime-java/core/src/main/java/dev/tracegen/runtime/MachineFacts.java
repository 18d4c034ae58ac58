package dev.tracegen.runtime;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads what Linux says of the process, a thread and the machine, in the files below {@code /proc}. A file that cannot
 * be read or has another form adds nothing. Files that Android denies to apps ({@code /proc/stat}, {@code loadavg}) are
 * not tried: the pressure says the same. Not safe for concurrent use.
 *
 * <p>{@link #read} returns the state of one moment. Counters only say something as differences: {@link #between} makes
 * rates of two readings.
 */
public final class MachineFacts {
    // Counters. They have the same unit in all readings, and are not written.
    private static final String AT = "#at-nanos";
    private static final String PROCESS_CPU = "#process-cpu-ticks";
    private static final String THREAD_CPU = "#thread-cpu-nanos";
    private static final String THREAD_WAIT = "#thread-wait-nanos";
    private static final String FAULTS = "#thread-major-faults";

    /** The kernel counts in hundredths of a second, on every Android device and every common Linux. */
    private static final long TICK_NANOS = 10000000L;

    /** Stands for the ID of the thread that the process began with, Android's main thread: that of the process. */
    public static final long FIRST_THREAD = 0;

    /** The greatest file that is read. */
    private static final int MAX_BYTES = 64 << 10;

    private final File root;
    private final byte[] buffer = new byte[MAX_BYTES];

    /**
     * Creates a reader.
     *
     * @param root {@code /proc}; tests have another directory
     */
    public MachineFacts(File root) {
        this.root = root;
    }

    /**
     * Reads the present state.
     *
     * @param threadId the kernel's ID of the thread or {@link #FIRST_THREAD}, -1 if unknown
     * @param nanos the time, in {@link Platform#nanoTime()}
     * @return facts and counters; a key that begins with {@code #} is a counter
     */
    public Map<String, String> read(long threadId, long nanos) {
        Map<String, String> facts = new LinkedHashMap<String, String>();
        put(facts, AT, nanos);
        long process = process(facts);
        long id = threadId == FIRST_THREAD ? process : threadId;
        if (id > 0) {
            thread(facts, "self/task/" + id + "/");
        }
        Map<String, Long> memory = values("meminfo");
        copy(facts, "memory-total-kb", memory, "MemTotal");
        copy(facts, "memory-available-kb", memory, "MemAvailable");
        for (String kind : new String[] {"cpu", "io", "memory"}) {
            pressure(facts, kind);
        }
        put(facts, "processors", Runtime.getRuntime().availableProcessors());
        Runtime vm = Runtime.getRuntime();
        put(facts, "java-heap-used-kb", (vm.totalMemory() - vm.freeMemory()) >> 10);
        put(facts, "java-heap-max-kb", vm.maxMemory() >> 10);
        return facts;
    }

    /**
     * Returns the facts of a reading, with rates and counts since an earlier one.
     *
     * @param before the earlier reading; null for none, then there are no rates
     * @param now the reading
     * @return no counters; percentages are of one processor, so a process may have more than 100
     */
    public static Map<String, String> between(@Nullable Map<String, String> before, Map<String, String> now) {
        Map<String, String> all = new LinkedHashMap<String, String>();
        long nanos = difference(before, now, AT);
        if (nanos > 0) {
            put(all, "over-millis", nanos / 1000000L);
            long process = difference(before, now, PROCESS_CPU);
            long thread = difference(before, now, THREAD_CPU);
            percent(all, "process-cpu-percent", process < 0 ? -1 : process * TICK_NANOS, nanos);
            percent(all, "thread-cpu-percent", thread, nanos);
            percent(all, "thread-waited-for-processor-percent", difference(before, now, THREAD_WAIT), nanos);
            long faults = difference(before, now, FAULTS);
            if (faults >= 0) {
                put(all, FAULTS.substring(1), faults);
            }
        }
        for (Map.Entry<String, String> e : now.entrySet()) {
            if (!e.getKey().startsWith("#")) {
                all.put(e.getKey(), e.getValue());
            }
        }
        return all;
    }

    /** Returns the difference of a counter, -1 if it is unknown or has become smaller. */
    private static long difference(Map<String, String> before, Map<String, String> now, String key) {
        String a = before == null ? null : before.get(key);
        String b = now.get(key);
        return a == null || b == null ? -1 : Math.max(-1, Long.parseLong(b) - Long.parseLong(a));
    }

    private static void percent(Map<String, String> to, String key, long part, long whole) {
        if (part >= 0 && whole > 0) {
            put(to, key, Math.round(100.0 * part / whole));
        }
    }

    private static void put(Map<String, String> to, String key, long value) {
        to.put(key, String.valueOf(value));
    }

    /** Adds what is known of the process, and returns its ID, negative if it is unknown. */
    private long process(Map<String, String> facts) {
        String[] stat = stat("self/stat");
        long user = field(stat, 14);
        long system = field(stat, 15);
        if (user >= 0 && system >= 0) {
            put(facts, PROCESS_CPU, user + system);
        }
        copy(facts, "rss-kb", values("self/status"), "VmRSS");
        return field(stat, 1);
    }

    /** Returns for how long the calling thread had no processor, as {@link Platform#processorWaitNanos} does. */
    long processorWaitNanos() {
        String[] sched = words("thread-self/schedstat");
        return sched.length < 2 ? -1 : Math.max(-1, number(sched[1]));
    }

    private void thread(Map<String, String> facts, String directory) {
        String[] stat = stat(directory + "stat");
        if (field(stat, 12) >= 0) {
            put(facts, FAULTS, field(stat, 12));
        }
        String[] sched = words(directory + "schedstat");
        if (sched.length >= 2 && number(sched[0]) >= 0 && number(sched[1]) >= 0) {
            put(facts, THREAD_CPU, number(sched[0]));
            put(facts, THREAD_WAIT, number(sched[1]));
        } else if (field(stat, 14) >= 0 && field(stat, 15) >= 0) {
            put(facts, THREAD_CPU, (field(stat, 14) + field(stat, 15)) * TICK_NANOS);
        }
    }

    /** Adds in how much of the last 10 seconds some task waited for the resource. */
    private void pressure(Map<String, String> facts, String kind) {
        String[] words = words("pressure/" + kind);
        if (words.length > 1 && words[0].equals("some") && words[1].matches("avg10=[0-9]+\\.[0-9]+")) {
            facts.put(kind + "-pressure-percent", words[1].substring("avg10=".length()));
        }
    }

    private static void copy(Map<String, String> to, String key, Map<String, Long> from, String name) {
        Long value = from.get(name);
        if (value != null) {
            put(to, key, value);
        }
    }

    /**
     * Returns the fields of a {@code stat} file, so that [n] is the field that proc(5) numbers n. The name of the
     * command may have blanks and parentheses, so what counts is the last closing one. Empty if there is none.
     */
    private String[] stat(String name) {
        String text = text(name);
        int open = text.indexOf('(');
        int close = text.lastIndexOf(')');
        if (open < 0 || close < open) {
            return new String[0];
        }
        String[] rest = text.substring(close + 1).trim().split("\\s+");
        String[] all = new String[rest.length + 3];
        all[0] = "";
        all[1] = text.substring(0, open).trim();
        all[2] = text.substring(open + 1, close);
        System.arraycopy(rest, 0, all, 3, rest.length);
        return all;
    }

    private static long field(String[] stat, int number) {
        return number < stat.length ? Math.max(-1, number(stat[number])) : -1;
    }

    /** Returns a number; Long.MIN_VALUE if the text is none. */
    private static long number(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            return Long.MIN_VALUE;
        }
    }

    private String[] words(String name) {
        String text = text(name).trim();
        return text.length() == 0 ? new String[0] : text.split("\\s+");
    }

    /** Returns the values of lines {@code NAME: NUMBER}, with anything behind the number. */
    private Map<String, Long> values(String name) {
        Map<String, Long> all = new LinkedHashMap<String, Long>();
        for (String line : text(name).split("\n")) {
            int colon = line.indexOf(':');
            String[] words = colon < 0 ? new String[0] : line.substring(colon + 1).trim().split("\\s+");
            long value = words.length == 0 ? -1 : number(words[0]);
            if (value >= 0) {
                all.put(line.substring(0, colon).trim(), value);
            }
        }
        return all;
    }

    /** Returns the begin of a file; an empty text if it cannot be read. */
    private String text(String name) {
        try (FileInputStream in = new FileInputStream(new File(root, name))) {
            int size = 0;
            for (int n = 0; n >= 0 && size < buffer.length; size += n) {
                n = in.read(buffer, size, buffer.length - size);
                if (n < 0) {
                    break;
                }
            }
            return new String(buffer, 0, size, "ISO-8859-1");
        } catch (IOException | SecurityException e) {
            return "";
        }
    }
}
