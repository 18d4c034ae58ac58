package dev.tracegen.runtime;

import java.io.File;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The options of a {@link Recorder}. The setters return this object. {@link Recorder#start} takes a copy, so later
 * changes have no effect on a running recorder.
 */
public final class RecorderOptions {
    /** Which threads' methods are recorded. */
    public static final int THREADS_MAIN = 0;

    /** Records the main thread and every thread that was given to {@link Recorder#thread}. */
    public static final int THREADS_CHOSEN = 1;

    /**
     * Records every thread. Each thread that enters an instrumented method gets its own ring. Virtual threads are
     * recorded only if {@link #virtualThreads} is set.
     */
    public static final int THREADS_ALL = 2;

    /** A full ring: its oldest records are overwritten. They are lost, and the recording says how many. */
    public static final int PRESSURE_LOSE = 0;

    /**
     * A full ring: until it is empty, calls of its thread that begin and end meanwhile are left out. Calls that are
     * open before or afterwards keep their times, and the recording says from when to when calls are missing.
     */
    public static final int PRESSURE_WINDOWS = 1;

    /**
     * A full ring: its thread waits until there is space. If the recorder makes no progress for seconds, calls are
     * left out as with {@link #PRESSURE_WINDOWS}.
     */
    public static final int PRESSURE_WAIT = 2;

    /** The unit of time if none is set, and the least one: 43 bits of it are 101 days. */
    static final long TICK_NANOS = 1000;

    static final long LEAST_MEMORY = 1L << 20;

    private static final int CLOCK_PERIOD_MILLIS = 5;

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

    /** What was asked for, if it is too short for {@link #tickNanos}; else 0. */
    long refusedTickNanos;
    int clockPeriodMillis = CLOCK_PERIOD_MILLIS;

    /** The clock period of the records that were taken over; 0 if none were. */
    int earlyPeriodMillis;
    int slowMillis = 700;
    int slowIdleMillis = 2000;
    int slowInputMillis = 700;
    boolean everyRecord;

    boolean gate = true;
    File gateFile;
    int pressure = PRESSURE_WINDOWS;

    /** Null if no calls are messages. */
    CallMessages callMessages;

    long maxFileBytes = 64L << 20;
    int maxFiles = 4;
    long keepBytes;
    int keepDays;
    boolean fullMessageText;
    TextRedactor redactor;

    MappingReader mapping;
    int history = 200;
    int dense = 5000;
    int mergeMillis = 16;
    Map<String, String> meta = new LinkedHashMap<String, String>();

    /** Creates the default options: stalls of the main thread, ticks of a millisecond, no file. */
    public RecorderOptions() {
    }

    RecorderOptions(RecorderOptions o) {
        platform = o.platform;
        output = o.output;
        threads = o.threads;
        virtualThreads = o.virtualThreads;
        memory = o.memory;
        refusedTickNanos = o.refusedTickNanos;
        ringRecords = o.ringRecords;
        threadRingRecords = o.threadRingRecords;
        tickNanos = o.tickNanos;
        clockPeriodMillis = o.clockPeriodMillis;
        slowMillis = o.slowMillis;
        slowIdleMillis = o.slowIdleMillis;
        slowInputMillis = o.slowInputMillis;
        everyRecord = o.everyRecord;
        gate = o.gate;
        gateFile = o.gateFile;
        pressure = o.pressure;
        callMessages = o.callMessages;
        maxFileBytes = o.maxFileBytes;
        maxFiles = o.maxFiles;
        keepBytes = o.keepBytes;
        keepDays = o.keepDays;
        fullMessageText = o.fullMessageText;
        redactor = o.redactor;
        mapping = o.mapping;
        history = o.history;
        dense = o.dense;
        mergeMillis = o.mergeMillis;
        meta = new LinkedHashMap<String, String>(o.meta);
    }

    /**
     * Sets the source of the time and of facts about the machine.
     *
     * @param value null for that of any Java runtime, which is the default
     * @return this
     */
    public RecorderOptions platform(@Nullable Platform value) {
        platform = value;
        return this;
    }

    /**
     * Sets the file that the recording is written to. If it gets full, its parts have names such as
     * {@code app.part1.tgd}, and the last part has this name. Recordings of earlier runs have {@code .1}, {@code .2},
     * ... behind their names. Only recordings are renamed and replaced. A directory gets a file with the name of the
     * process or of the main class. A device or a pipe is written in place. If another process writes the file, this
     * one writes a file with its process ID in the name. For another file nothing is written, the log says so, and the
     * program runs on.
     *
     * @param value null to write none
     * @return this
     */
    public RecorderOptions output(@Nullable File value) {
        output = value;
        return this;
    }

    /**
     * Sets which threads are recorded.
     *
     * @param value {@link #THREADS_MAIN}, {@link #THREADS_CHOSEN} or {@link #THREADS_ALL}
     * @return this
     */
    public RecorderOptions threads(int value) {
        threads = value;
        return this;
    }

    /**
     * Sets whether {@link #THREADS_ALL} includes virtual threads. There may be very many of them. A thread that gets no
     * memory is not recorded, and the recording says how many records are missing.
     *
     * @param value false if not set
     * @return this
     */
    public RecorderOptions virtualThreads(boolean value) {
        virtualThreads = value;
        return this;
    }

    /**
     * Sets how much memory the recorder may use for the rings of all threads together and for records that wait to be
     * written. If there is none left, rings do not grow, and threads that have no ring are not recorded. The recording
     * says how many records are missing. The memory of threads that have ended is used again.
     *
     * @param bytes at least 1 MiB; 0 for a 16th of the maximal heap, but at least 1 MiB and at most 64 MiB, or 16 MiB
     *     on Android. That is the default
     * @return this
     */
    public RecorderOptions memory(long bytes) {
        memory = bytes <= 0 ? 0 : Math.max(LEAST_MEMORY, bytes);
        return this;
    }

    /**
     * Sets how large the main thread's ring may get. It begins with 1,024 records and grows when it is full, as long as
     * {@link #memory} allows. When it cannot grow, the oldest records are overwritten.
     *
     * @param value number of records, rounded up to a power of two from 1,024 to 2^26; 1,048,576 (8 MiB) if not set
     * @return this
     */
    public RecorderOptions ringRecords(int value) {
        ringRecords = powerOfTwo(value);
        return this;
    }

    /**
     * Sets how large the ring of each other recorded thread may get.
     *
     * @param value number of records, rounded up to a power of two from 1,024 to 2^26; 131,072 (1 MiB) if not set
     * @return this
     */
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

    /**
     * Sets the unit of the records' times. It is written into the recording. A time has 43 bits. When they are full,
     * which is after 101 days with the default, recording stops, and the log says so.
     *
     * @param value nanoseconds, 1,000 to 1,000,000,000; 1,000 if not set. Less is replaced by 1,000, and the log says
     *     so when recording begins. If {@link Recorder#start} takes over the records of the app's start, their unit
     *     stays
     * @return this
     */
    public RecorderOptions tickNanos(long value) {
        refusedTickNanos = value < TICK_NANOS ? value : 0;
        tickNanos = Math.max(TICK_NANOS, Math.min(1000000000L, value));
        return this;
    }

    /**
     * Sets how often the time of the records is updated.
     *
     * @param value milliseconds, 5 if not set; 0 reads the platform's clock for every record, which is exact and
     *     costs about ten times as much
     * @return this
     */
    public RecorderOptions clockPeriodMillis(int value) {
        clockPeriodMillis = Math.max(0, value);
        return this;
    }

    /**
     * Sets the slow threshold. A message that lasts at least this long is a stall.
     *
     * @param value milliseconds, at least 1; 700 if not set
     * @return this
     */
    public RecorderOptions slowMillis(int value) {
        slowMillis = Math.max(1, value);
        return this;
    }

    /**
     * Sets the threshold of IdleHandlers. A run of one that lasts at least this long is a stall.
     *
     * @param value milliseconds, at least 1; 2,000 if not set
     * @return this
     */
    public RecorderOptions slowIdleMillis(int value) {
        slowIdleMillis = Math.max(1, value);
        return this;
    }

    /**
     * Sets the threshold of input events that run outside of messages. One that lasts at least this long is a stall.
     *
     * @param value milliseconds, at least 1; 700 if not set
     * @return this
     */
    public RecorderOptions slowInputMillis(int value) {
        slowInputMillis = Math.max(1, value);
        return this;
    }

    /** Returns the threshold of a kind of {@link MessageRecord}, in nanoseconds. */
    long slowNanos(int kind) {
        return 1000000L * (kind == MessageRecord.IDLE_HANDLER ? slowIdleMillis
                : kind == MessageRecord.INPUT ? slowInputMillis : slowMillis);
    }

    /** Returns the least of the thresholds, in milliseconds. */
    int leastSlowMillis() {
        return Math.min(slowMillis, Math.min(slowIdleMillis, slowInputMillis));
    }

    /**
     * Sets whether every record is written into the recording, or only those of stalls.
     *
     * @param value false if not set
     * @return this
     */
    public RecorderOptions everyRecord(boolean value) {
        everyRecord = value;
        return this;
    }

    /**
     * Sets whether methods that flood the recorder are switched off while the program runs: those that are called most
     * and take no time. They are switched on again when they are called less. The recording says which methods were
     * off when, and how many of their calls are missing. It has an effect only if every record is written.
     *
     * @param value true if not set
     * @return this
     */
    public RecorderOptions gate(boolean value) {
        gate = value;
        return this;
    }

    /**
     * Sets a file with the methods that are not recorded, also if not every record is written. Its lines are
     * {@code mapping DIGEST}, with the digest of the mapping that the IDs are of, and one ID each. Empty lines and
     * those that begin with {@code #} are skipped. It is read once when recording begins. If the digest is not that
     * of the program's mapping, the file is refused, and the log says so. {@link Recorder#setGate} replaces the list.
     *
     * @param value null for none, which is the default
     * @return this
     */
    public RecorderOptions gateFile(@Nullable File value) {
        gateFile = value;
        return this;
    }

    /**
     * Sets what happens if a thread puts records faster than they are written. It has an effect only if every record
     * is written.
     *
     * @param value {@link #PRESSURE_WINDOWS}, which is the default, {@link #PRESSURE_WAIT} or {@link #PRESSURE_LOSE}
     * @return this
     */
    public RecorderOptions pressure(int value) {
        pressure = value;
        return this;
    }

    /**
     * Limits the space of the recordings on disk. A file that has reached its size is renamed, the next part of the
     * recording is begun, and the oldest file is deleted.
     *
     * @param bytes size of one file, at least 65,536; 64 MiB if not set
     * @param files number of files, parts and recordings of earlier runs together, with the current one, at least 1;
     *     4 if not set
     * @return this
     */
    public RecorderOptions limit(long bytes, int files) {
        maxFileBytes = Math.max(MIN_FILE, bytes);
        maxFiles = Math.max(1, files);
        return this;
    }

    /**
     * Limits the space of all recordings with this output on disk, those of earlier runs and of other processes
     * included, and their age. Before a file is begun, the oldest are deleted. A file is then closed at a quarter of
     * the space, unless {@link #limit} sets a smaller size.
     *
     * @param bytes the space, at least 262,144; 0 for no limit beside that of {@link #limit}, which is the default
     * @param days recordings of earlier runs that are older are deleted; 0 for no limit, which is the default
     * @return this
     */
    public RecorderOptions keep(long bytes, int days) {
        keepBytes = bytes <= 0 ? 0 : Math.max(4 * MIN_FILE, bytes);
        keepDays = Math.max(0, days);
        return this;
    }

    /**
     * Sets whether the texts of messages are recorded as the Looper prints them. They contain what the app's
     * {@code toString} methods return, which may be personal data.
     *
     * @param value false, the default, for the class of the handler, the class of the callback, and
     *     {@code Message.what}
     * @return this
     */
    public RecorderOptions fullMessageText(boolean value) {
        fullMessageText = value;
        return this;
    }

    /**
     * Sets what removes personal data from texts before they are written or delivered.
     *
     * @param value null for none, which is the default
     * @return this
     */
    public RecorderOptions redactor(@Nullable TextRedactor value) {
        redactor = value;
        return this;
    }

    /**
     * Sets how many messages each thread keeps.
     *
     * @param entries number of entries in the history, where short messages are merged; 200 if not set
     * @param recent number of last messages that are kept one by one; 5,000 if not set
     * @param mergeBelowMillis messages shorter than this are merged in the history; 16 if not set
     * @return this
     */
    public RecorderOptions history(int entries, int recent, int mergeBelowMillis) {
        history = Math.max(1, entries);
        dense = Math.max(1, recent);
        mergeMillis = Math.max(0, mergeBelowMillis);
        return this;
    }

    /**
     * Logs each stall with the names of its longest calls, for a developer who reads the log.
     *
     * @param value null to log none, which is the default
     * @return this
     */
    public RecorderOptions mapping(@Nullable MappingReader value) {
        mapping = value;
        return this;
    }

    /**
     * Adds a fact to the recording, such as {@code package}, {@code versionName}, {@code process} or {@code device}.
     * The digest of the mapping and the tick are always written.
     *
     * @param key not empty
     * @param value not null
     * @return this
     */
    public RecorderOptions meta(String key, String value) {
        meta.put(key, value);
        return this;
    }

    /**
     * Sets an option by its name in properties and files.
     *
     * <pre>
     *   slow           milliseconds
     *   slow-idle      milliseconds, the threshold of IdleHandlers
     *   slow-input     milliseconds, the threshold of input events
     *   tick           ms: the time of records is updated every 5 ms | us: the clock is read for every record
     *   threads        main | chosen | all | all,virtual
     *   memory         bytes, or a number with K or M behind it for KiB or MiB, see {@link #memory}
     *   ring           number of records that the ring of each thread may have
     *   every-record   true | false
     *   gate           auto | off
     *   pressure       windows | wait | lose
     *   message-text   short | full
     *   file-megabytes the size at which a file is closed and the next one begun
     *   keep-files     number of files that are kept
     *   keep-megabytes their size in total, 0 for no limit
     *   keep-days      their age, 0 for no limit
     * </pre>
     *
     * @param key one of these
     * @param value a value for the setter of this name; the ring must have 1,024 to 2^26 records
     * @return this
     * @throws IllegalArgumentException if there is no such key, or if the value is wrong; the message says which
     *     values are valid, and nothing is changed
     */
    public RecorderOptions set(String key, String value) {
        if (key.equals("slow")) {
            return slowMillis(number(value, "milliseconds", 1, Integer.MAX_VALUE));
        } else if (key.equals("slow-idle")) {
            return slowIdleMillis(number(value, "milliseconds", 1, Integer.MAX_VALUE));
        } else if (key.equals("slow-input")) {
            return slowInputMillis(number(value, "milliseconds", 1, Integer.MAX_VALUE));
        } else if (key.equals("tick")) {
            int period = choice(value, "ms", "us") == 0 ? CLOCK_PERIOD_MILLIS : 0;
            return tickNanos(TICK_NANOS).clockPeriodMillis(period);
        } else if (key.equals("threads")) {
            int n = choice(value, "main", "chosen", "all", "all,virtual");
            return threads(Math.min(n, THREADS_ALL)).virtualThreads(n > THREADS_ALL);
        } else if (key.equals("memory")) {
            return memory(bytes(value));
        } else if (key.equals("ring")) {
            int n = number(value, "records", MIN_RING, MAX_RING);
            return ringRecords(n).threadRingRecords(n);
        } else if (key.equals("every-record")) {
            return everyRecord(choice(value, "true", "false") == 0);
        } else if (key.equals("gate")) {
            return gate(choice(value, "auto", "off") == 0);
        } else if (key.equals("pressure")) {
            int[] of = {PRESSURE_WINDOWS, PRESSURE_WAIT, PRESSURE_LOSE};
            return pressure(of[choice(value, "windows", "wait", "lose")]);
        }
        return setOutput(key, value);
    }

    /** Sets an option of the files and of what is in them. */
    private RecorderOptions setOutput(String key, String value) {
        if (key.equals("message-text")) {
            return fullMessageText(choice(value, "short", "full") == 1);
        } else if (key.equals("file-megabytes")) {
            return limit((long) number(value, "megabytes", 1, 1 << 20) << 20, maxFiles);
        } else if (key.equals("keep-files")) {
            return limit(maxFileBytes, number(value, "files", 1, 1 << 20));
        } else if (key.equals("keep-megabytes")) {
            return keep((long) number(value, "megabytes", 0, 1 << 30) << 20, keepDays);
        } else if (key.equals("keep-days")) {
            return keep(keepBytes, number(value, "days", 0, 1 << 20));
        }
        throw new IllegalArgumentException("unknown key");
    }

    /**
     * Reads a number.
     *
     * @param value decimal digits
     * @param unit the unit of the number, for the message
     * @param least the least valid number
     * @param most the greatest valid number
     * @return the number
     * @throws IllegalArgumentException if the value is no number or out of range
     */
    public static int number(String value, String unit, int least, int most) {
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
    private static long bytes(String value) {
        int digits = value.endsWith("K") || value.endsWith("M") ? value.length() - 1 : value.length();
        long unit = value.endsWith("K") ? 1 << 10 : value.endsWith("M") ? 1 << 20 : 1;
        try {
            long n = Integer.parseInt(value.substring(0, digits)) * unit;
            if (n >= LEAST_MEMORY) {
                return n;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new IllegalArgumentException("want a whole number of bytes, KiB or MiB of at least 1M, such as 16M");
    }

    /**
     * Reads one of several words.
     *
     * @param value the word
     * @param of the valid words
     * @return the index of the word among them, from 0
     * @throws IllegalArgumentException if it is none of them
     */
    public static int choice(String value, String... of) {
        StringBuilder all = new StringBuilder();
        for (int k = 0; k < of.length; k++) {
            if (of[k].equals(value)) {
                return k;
            }
            all.append(k == 0 ? "" : " or ").append(of[k]);
        }
        throw new IllegalArgumentException("want " + all);
    }
}
