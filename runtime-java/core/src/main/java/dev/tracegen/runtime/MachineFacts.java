package dev.tracegen.runtime;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads what Linux says of the process, a thread and the machine, in the files below {@code /proc}. A file that cannot
 * be read or has another form adds nothing: {@code /proc/stat} and {@code /proc/loadavg}, for instance, are denied to
 * apps since Android 8. Not safe for concurrent use.
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
    private static final String MACHINE_BUSY = "#machine-busy-ticks";
    private static final String MACHINE_ALL = "#machine-all-ticks";
    private static final String IO_WAIT = "#machine-io-wait-ticks";

    /** Counters whose difference is a fact, in the order of reports. */
    private static final String[] COUNTS = {"minor-faults", "major-faults", "thread-minor-faults",
        "thread-major-faults", "voluntary-switches", "involuntary-switches", "read-bytes", "written-bytes",
        "disk-read-bytes", "disk-written-bytes"};

    /** The kernel counts in hundredths of a second, on every Android device and every common Linux. */
    private static final long TICK_NANOS = 10000000L;

    /** Stands for the ID of the thread that the process began with, Android's main thread: that of the process. */
    public static final long FIRST_THREAD = 0;

    /** The greatest file that is read. */
    private static final int MAX_BYTES = 64 << 10;

    private final File root;
    private final File disk;
    private final byte[] buffer = new byte[MAX_BYTES];

    /**
     * Creates a reader.
     *
     * @param root {@code /proc}; tests have another directory
     * @param disk a file or directory on the file system whose free space is of interest; null for none
     */
    public MachineFacts(File root, @Nullable File disk) {
        this.root = root;
        this.disk = disk;
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
        machine(facts);
        memory(facts);
        io(facts);
        for (String kind : new String[] {"cpu", "io", "memory"}) {
            pressure(facts, kind);
        }
        File existing = disk;
        while (existing != null && !existing.exists()) {
            existing = existing.getParentFile();
        }
        if (existing != null) {
            put(facts, "disk-free-bytes", existing.getUsableSpace());
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
            if (process >= 0 && thread >= 0) {
                percent(all, "other-threads-cpu-percent", Math.max(0, process * TICK_NANOS - thread), nanos);
            }
            percent(all, "thread-waited-for-processor-percent", difference(before, now, THREAD_WAIT), nanos);
            long ticks = difference(before, now, MACHINE_ALL);
            if (ticks > 0) {
                percent(all, "machine-cpu-percent", difference(before, now, MACHINE_BUSY), ticks);
                percent(all, "machine-io-wait-percent", difference(before, now, IO_WAIT), ticks);
            }
            for (String key : COUNTS) {
                long n = difference(before, now, "#" + key);
                if (n >= 0) {
                    put(all, key, n);
                }
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

    private static void putIf(Map<String, String> to, String key, long value) {
        if (value >= 0) {
            put(to, key, value);
        }
    }

    /** Adds what is known of the process, and returns its ID, negative if it is unknown. */
    private long process(Map<String, String> facts) {
        String[] stat = stat("self/stat");
        putIf(facts, "#minor-faults", field(stat, 10));
        putIf(facts, "#major-faults", field(stat, 12));
        long user = field(stat, 14);
        long system = field(stat, 15);
        if (user >= 0 && system >= 0) {
            put(facts, PROCESS_CPU, user + system);
        }
        putIf(facts, "threads", field(stat, 20));
        Map<String, Long> status = values("self/status");
        copy(facts, "rss-kb", status, "VmRSS");
        copy(facts, "swap-kb", status, "VmSwap");
        return field(stat, 1);
    }

    private void thread(Map<String, String> facts, String directory) {
        String[] stat = stat(directory + "stat");
        putIf(facts, "#thread-minor-faults", field(stat, 10));
        putIf(facts, "#thread-major-faults", field(stat, 12));
        if (stat.length > 19 && number(stat[18]) != Long.MIN_VALUE && number(stat[19]) != Long.MIN_VALUE) {
            // Both may be negative.
            put(facts, "thread-priority", number(stat[18]));
            put(facts, "thread-nice", number(stat[19]));
        }
        String[] sched = words(directory + "schedstat");
        if (sched.length >= 2 && number(sched[0]) >= 0 && number(sched[1]) >= 0) {
            put(facts, THREAD_CPU, number(sched[0]));
            put(facts, THREAD_WAIT, number(sched[1]));
        } else if (field(stat, 14) >= 0 && field(stat, 15) >= 0) {
            put(facts, THREAD_CPU, (field(stat, 14) + field(stat, 15)) * TICK_NANOS);
        }
        Map<String, Long> status = values(directory + "status");
        copy(facts, "#voluntary-switches", status, "voluntary_ctxt_switches");
        copy(facts, "#involuntary-switches", status, "nonvoluntary_ctxt_switches");
    }

    private void machine(Map<String, String> facts) {
        String[] load = words("loadavg");
        if (load.length > 0 && load[0].matches("[0-9]+\\.[0-9]+")) {
            facts.put("load-1", load[0]);
        }
        String text = text("stat");
        int line = text.indexOf('\n');
        String[] cpu = (line < 0 ? text : text.substring(0, line)).trim().split("\\s+");
        if (cpu.length < 6 || !cpu[0].equals("cpu")) {
            return;
        }
        long all = 0;
        for (int k = 1; k < Math.min(cpu.length, 9); k++) {
            long n = number(cpu[k]);
            if (n < 0) {
                return;
            }
            all += n;
        }
        put(facts, MACHINE_ALL, all);
        put(facts, MACHINE_BUSY, all - number(cpu[4]) - number(cpu[5]));
        put(facts, IO_WAIT, number(cpu[5]));
    }

    private void memory(Map<String, String> facts) {
        Map<String, Long> values = values("meminfo");
        copy(facts, "memory-total-kb", values, "MemTotal");
        copy(facts, "memory-available-kb", values, "MemAvailable");
    }

    private void io(Map<String, String> facts) {
        Map<String, Long> values = values("self/io");
        copy(facts, "#read-bytes", values, "rchar");
        copy(facts, "#written-bytes", values, "wchar");
        copy(facts, "#disk-read-bytes", values, "read_bytes");
        copy(facts, "#disk-written-bytes", values, "write_bytes");
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
