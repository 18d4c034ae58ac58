package dev.tracegen.runtime;

import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * All options of the runtime. {@link #set} takes them as texts, by the keys below. An Android app has them in
 * {@code tracegen-runtime.properties}, and a JVM program as system properties with {@code tracegen.} before the key.
 * What is no text, or what code sets often, has a method of its own. {@link Recorder#start} takes a copy, so later
 * changes have no effect on a running recorder.
 *
 * <pre>
 * key                    default     values and effect
 *
 * Recording. (J) may also be a system property of a JVM.
 *   slow                 700         milliseconds; a message that lasts at least so long is a stall (J)
 *   slow-idle            2000        milliseconds, the same for IdleHandlers
 *   tick                 ms          ms: the time of records is updated every 5 ms | us: the clock is read for every
 *                                    record, which is exact and costs about ten times as much (J)
 *   threads              main        main | chosen: and those given to Recorder.thread | all: but virtual threads |
 *                                    all,virtual. A thread that gets no memory is not recorded (J)
 *   memory                           bytes, or a number with K or M, of at least 1M: what all rings and waiting
 *                                    records may take; a 16th of the maximal heap, 1M to 64M, on Android 16M (J)
 *   ring                             records that the ring of each thread may have, 1024 to 67108864; 1048576 for
 *                                    the main thread, 131072 for others. A full ring overwrites the oldest, or with
 *                                    every-record leaves out calls that begin and end meanwhile (J)
 *   every-record         false       true | false: only the records of stalls. A JVM's properties set it
 *   gate                 auto        auto | counted | off: with every-record, whether methods that are called most and
 *                                    take no time are switched off while too many records come; with auto they are
 *                                    let go if they go on flooding, and their calls are not counted then (J)
 *   stacks                           off | main | all: whose stacks are sampled steadily while a message or outermost
 *                                    call runs, at most 1 % of a core and 0.5 % of a thread's time; all recorded
 *                                    threads, on Android main (J)
 *   output                           the recording, see Recorder.output. On Android relative to the directory that no
 *                                    backup takes; tracegen/PROCESS.tgd if not set; none for none (J)
 *   file-megabytes       64          the size at which a file is closed and the next one begun; 8 on Android (J)
 *   keep-files           4           files that are kept; 100 on Android (J)
 *   keep-megabytes       0           their size in total, 0 for no limit; 32 on Android (J)
 *   keep-days            0           their age, 0 for no limit; 7 on Android (J)
 *   build-id                         names the build where versions do not, in recordings and reports (J)
 *
 * System properties alone
 *   message                          IDs of methods whose calls are messages, with commas between; those of mapping
 *                                    if not set
 *   mapping                          the mapping of the program
 *   command                          full: records the program's arguments too, which may hold secrets
 *
 * An Android app alone
 *   enabled              true        true | false
 *   check                60000       milliseconds between checks whether other code has replaced the printer
 *   idle-handlers        true        true | false: whether IdleHandlers are seen
 *   frames               false       true: writes each frame | false
 *   detectors            none        names with commas between, see docs/detectors.md
 *   NAME.key                         a setting of the detector NAME
 *
 * Reports, see docs/reporting.md. They need tracegen-runtime-report
 *   upload               none        the address of the collector
 *   upload-..., outbox-..., sampling..., config-key
 * </pre>
 */
public final class RecorderOptions implements Cloneable {
    /** {@code threads=main}. */
    public static final int THREADS_MAIN = 0;

    /** {@code threads=chosen}: also every thread that was given to {@link Recorder#thread}. */
    public static final int THREADS_CHOSEN = 1;

    /** {@code threads=all}. Each thread that enters an instrumented method gets its own ring. */
    public static final int THREADS_ALL = 2;

    // The values of stacks.
    static final int STEADY_OFF = 0;
    static final int STEADY_MAIN = 1;
    static final int STEADY_ALL = 2;

    /** The unit of time if none is set, and the least one: 43 bits of it are 101 days. */
    static final long TICK_NANOS = 1000;

    static final long LEAST_MEMORY = 1L << 20;

    static final int CLOCK_PERIOD_MILLIS = 5;

    /** The least size at which a file is closed and the next one begun. */
    static final long MIN_FILE = 1 << 16;

    private static final int MIN_RING = 1 << 10;
    private static final int MAX_RING = 1 << 26;

    /** Null for the platform of any Java runtime. */
    Platform platform;

    File output;
    int threads = THREADS_MAIN;
    boolean virtualThreads;
    int ringRecords = 1 << 20;
    int threadRingRecords = 1 << 17;

    /** In bytes; 0 for the default. */
    long memory;

    long tickNanos = TICK_NANOS;

    int clockPeriodMillis = CLOCK_PERIOD_MILLIS;

    /** The clock period of the records that were taken over; 0 if none were. */
    int earlyPeriodMillis;
    int slowMillis = 700;
    int slowIdleMillis = 2000;
    boolean everyRecord;

    boolean gate = true;
    boolean letGo = true;

    /**
     * How many calls a second a method must have to be let go, in one part in how many of the time it may be open at
     * most, 0 for all of it, and when it comes back. Others for tests.
     */
    int letGoCalls = 20000;
    int letGoShare = 5;
    long letGoNanos = 10000000000L;

    /** {@code stacks}; below 0 while it is not set, which is as all. */
    int steady = -1;

    /** Null if no calls are messages. */
    CallMessages callMessages;

    // Below 0 while they are not set.
    long maxFileBytes = -1;
    int maxFiles = -1;
    long keepBytes = -1;
    int keepDays = -1;
    TextRedactor redactor;

    /** How many entries a thread's history has. */
    int history = 200;

    /** Messages shorter than this are merged in the history. */
    int mergeMillis = 16;

    Map<String, String> meta = new LinkedHashMap<String, String>();

    /** What was set by {@link #set} and is no field above. */
    TreeMap<String, String> texts = new TreeMap<String, String>();
    private List<String> problems = new ArrayList<String>();

    /** Creates the default options. */
    public RecorderOptions() {
    }

    /** Returns a copy. */
    public RecorderOptions copy() {
        try {
            RecorderOptions o = (RecorderOptions) clone();
            o.meta = new LinkedHashMap<String, String>(meta);
            o.texts = new TreeMap<String, String>(texts);
            o.problems = new ArrayList<String>(problems);
            return o;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Sets an option by a text.
     *
     * @throws IllegalArgumentException if there is no such key, or if the value is wrong; the message says which
     *     values are valid, and nothing is changed
     */
    public RecorderOptions set(String key, String value) {
        OptionTable.check(key, value);
        if (!OptionTable.setField(this, key, value)) {
            texts.put(key, value);
        }
        if (key.equals(OptionTable.DETECTORS)) {
            OptionTable.checkDetectors(words(value));
        }
        return this;
    }

    /**
     * Sets the options of an Android app's file. A key that does not exist or has a wrong value keeps its default;
     * {@link #problems} says so.
     */
    public RecorderOptions apply(Properties settings) {
        return apply(settings, OptionTable.APP);
    }

    /** Sets what a collector may change for all apps, thresholds and how much is sent, and ignores the rest. */
    public RecorderOptions applyRemote(Properties settings) {
        return apply(settings, OptionTable.COLLECTOR);
    }

    /** Sets what someone may set. All properties are read here. */
    RecorderOptions apply(Properties settings, char who) {
        for (String key : new TreeSet<String>(settings.stringPropertyNames())) {
            String value = settings.getProperty(key).trim();
            boolean denied = OptionTable.isDenied(key, who);
            try {
                if (!denied) {
                    set(key, value);
                } else if (who == OptionTable.APP) {
                    throw new IllegalArgumentException("unknown key");
                }
            } catch (IllegalArgumentException e) {
                problems.add(key + "=" + value + ": " + e.getMessage()
                        + (key.equals(OptionTable.DETECTORS) ? "" : "; the default is used"));
            }
        }
        return this;
    }

    /**
     * Returns the faults of what was applied.
     *
     * @return one line for each wrong key or value; empty if there is none
     */
    public List<String> problems() {
        return new ArrayList<String>(problems);
    }

    /**
     * Returns an option that only the Android part, a detector or reports use.
     *
     * @return its text or its default; empty if it is not set and the table has none
     */
    public String get(String key) {
        String value = texts.get(key);
        return value == null ? OptionTable.defaultOf(key) : value;
    }

    /** Returns an option as {@link #get} does that is true or false. */
    public boolean flag(String key) {
        return get(key).equals("true");
    }

    /** Returns an option as {@link #get} does that is a number. */
    public int number(String key) {
        return Integer.parseInt(get(key));
    }

    /** Returns the detectors that an option names, those that exist. */
    public List<String> names(String key) {
        List<String> names = words(get(key));
        // No import: the no-op has this class and not that package.
        names.retainAll(dev.tracegen.runtime.detector.Detectors.NAMES);
        return names;
    }

    private static List<String> words(String value) {
        List<String> words = new ArrayList<String>();
        for (String word : value.equals("none") ? new String[0] : value.split(",")) {
            if (word.trim().length() > 0) {
                words.add(word.trim());
            }
        }
        return words;
    }

    /** Returns the options that were set and whose keys begin alike, by the rest of their keys. */
    public Map<String, String> startingWith(String prefix) {
        Map<String, String> found = new TreeMap<String, String>();
        for (Map.Entry<String, String> e : texts.entrySet()) {
            if (e.getKey().startsWith(prefix)) {
                found.put(e.getKey().substring(prefix.length()), e.getValue());
            }
        }
        return found;
    }

    /** Sets those options to the defaults of Android that have others there, as far as they are not set. */
    public RecorderOptions appDefaults() {
        steady = steady < 0 ? STEADY_MAIN : steady;
        maxFileBytes = maxFileBytes < 0 ? 8L << 20 : maxFileBytes;
        maxFiles = maxFiles < 0 ? 100 : maxFiles;
        keepBytes = keepBytes < 0 ? 32L << 20 : keepBytes;
        keepDays = keepDays < 0 ? 7 : keepDays;
        return this;
    }

    /** Sets the source of the time and of facts about the machine; null for that of any Java runtime. */
    public RecorderOptions platform(@Nullable Platform value) {
        platform = value;
        return this;
    }

    /**
     * Sets the file that the recording is written to. If it gets full, its parts have names such as
     * {@code app.part1.tgd}, and the last part has this name. Recordings of earlier runs have {@code .1}, {@code .2},
     * ... behind their names. Only recordings are renamed and replaced. A directory gets a file with the name of the
     * process or of the main class. If another process writes the file, this
     * one writes a file with its process ID in the name. For another file nothing is written, the log says so, and the
     * program runs on.
     *
     * @param value null to write none
     */
    public RecorderOptions output(@Nullable File value) {
        output = value;
        return this;
    }

    /** Returns {@code threads} as it is written. */
    String threadsText() {
        return threads == THREADS_MAIN ? "main" : threads == THREADS_CHOSEN ? "chosen"
                : virtualThreads ? "all,virtual" : "all";
    }

    /** Sets {@code threads}, to one of the constants. */
    public RecorderOptions threads(int value) {
        threads = value;
        return this;
    }

    /** Sets {@code memory} in bytes; 0 for the default. */
    public RecorderOptions memory(long bytes) {
        memory = bytes <= 0 ? 0 : Math.max(LEAST_MEMORY, bytes);
        return this;
    }

    /** Sets {@code ring} for the main thread. The number is rounded up to a power of two. */
    public RecorderOptions ringRecords(int value) {
        ringRecords = powerOfTwo(value);
        return this;
    }

    /** Sets {@code ring} for the other threads. The number is rounded up to a power of two. */
    public RecorderOptions threadRingRecords(int value) {
        threadRingRecords = powerOfTwo(value);
        return this;
    }

    private static int powerOfTwo(int value) {
        int n = MIN_RING;
        while (n < value && n < MAX_RING) {
            n <<= 1;
        }
        return n;
    }

    /** Sets the unit of the records' times, in nanoseconds. For tests. */
    RecorderOptions tickNanos(long value) {
        tickNanos = value;
        return this;
    }

    /** Sets how often the time of the records is updated, in milliseconds; 0 reads the clock for every record. */
    public RecorderOptions clockPeriodMillis(int value) {
        clockPeriodMillis = Math.max(0, value);
        return this;
    }

    /** Sets {@code slow}. */
    public RecorderOptions slowMillis(int value) {
        slowMillis = Math.max(1, value);
        return this;
    }

    /** Returns the threshold of a kind of {@link MessageRecord}, in nanoseconds. */
    long slowNanos(int kind) {
        return 1000000L * (kind == MessageRecord.IDLE_HANDLER ? slowIdleMillis : slowMillis);
    }

    /** Returns the least of the thresholds, in milliseconds. */
    int leastSlowMillis() {
        return Math.min(slowMillis, slowIdleMillis);
    }

    /** Sets {@code every-record}. */
    public RecorderOptions everyRecord(boolean value) {
        everyRecord = value;
        return this;
    }

    /** Sets the size of a file, at least 65,536 bytes, and {@code keep-files}. */
    public RecorderOptions limit(long bytes, int files) {
        maxFileBytes = Math.max(MIN_FILE, bytes);
        maxFiles = Math.max(1, files);
        return this;
    }

    /**
     * Sets the space of all recordings with this output, of earlier runs and other processes too, at least 262,144
     * bytes or 0, and {@code keep-days}. A file is then closed at a quarter of that, unless {@link #limit} sets less.
     */
    public RecorderOptions keep(long bytes, int days) {
        keepBytes = bytes <= 0 ? 0 : Math.max(4 * MIN_FILE, bytes);
        keepDays = Math.max(0, days);
        return this;
    }

    /** Sets what removes personal data from texts before they are written or delivered; null for none. */
    public RecorderOptions redactor(@Nullable TextRedactor value) {
        redactor = value;
        return this;
    }

    /** Sets how many entries a thread keeps, and which messages are merged. For tests. */
    RecorderOptions history(int entries, int mergeBelowMillis) {
        history = entries;
        mergeMillis = mergeBelowMillis;
        return this;
    }

    /**
     * Adds a fact to the recording, such as {@code package}, {@code versionName}, {@code process} or {@code device}.
     * The digest of the mapping and the tick are always written.
     */
    public RecorderOptions meta(String key, String value) {
        meta.put(key, value);
        return this;
    }

    /** As {@link #meta}, unless there is a fact of this key, or the value is null. */
    public RecorderOptions metaIfAbsent(String key, String value) {
        return value == null || meta.containsKey(key) ? this : meta(key, value);
    }
}
