package dev.tracegen.runtime;

import java.io.File;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a {@link Recorder} is to do. The setters return this object; {@link Recorder#start} takes a copy, so that
 * later changes have no effect on a running recorder.
 */
public final class RecorderOptions {
    /** Which threads' methods are recorded. */
    public static final int THREADS_MAIN = 0;

    /** Those of the main thread and of every thread given to {@link Recorder#thread}. */
    public static final int THREADS_CHOSEN = 1;

    /** Those of every thread. Each that enters an instrumented method gets a ring of its own. */
    public static final int THREADS_ALL = 2;

    static final long MILLISECOND = 1000000;

    private static final int MIN_RING = 1 << 10;
    private static final int MAX_RING = 1 << 26;

    /** Null for the one that any Java runtime has. */
    Platform platform;

    File output;
    int threads = THREADS_MAIN;
    int ringRecords = 1 << 20;
    int threadRingRecords = 1 << 17;
    long tickNanos = MILLISECOND;
    int clockPeriodMillis = 5;
    int slowMillis = 700;
    boolean everyRecord;

    /** Whether each outermost traced call of a thread counts as a message: for threads without a queue. */
    boolean outermostCalls;

    long maxFileBytes = 64L << 20;
    int maxFiles = 4;
    MappingReader mapping;
    int history = 200;
    int dense = 5000;
    int mergeMillis = 16;
    Map<String, String> meta = new LinkedHashMap<String, String>();

    /** The defaults: the main thread's slow messages, ticks of a millisecond, no file. */
    public RecorderOptions() {
    }

    RecorderOptions(RecorderOptions o) {
        platform = o.platform;
        output = o.output;
        threads = o.threads;
        ringRecords = o.ringRecords;
        threadRingRecords = o.threadRingRecords;
        tickNanos = o.tickNanos;
        clockPeriodMillis = o.clockPeriodMillis;
        slowMillis = o.slowMillis;
        everyRecord = o.everyRecord;
        outermostCalls = o.outermostCalls;
        maxFileBytes = o.maxFileBytes;
        maxFiles = o.maxFiles;
        mapping = o.mapping;
        history = o.history;
        dense = o.dense;
        mergeMillis = o.mergeMillis;
        meta = new LinkedHashMap<String, String>(o.meta);
    }

    /**
     * Where time and facts about the machine come from.
     *
     * @param value null for what any Java runtime knows, which is the default
     * @return this
     */
    public RecorderOptions platform(Platform value) {
        platform = value;
        return this;
    }

    /**
     * The file that the recording is written to; older ones have {@code .1}, {@code .2}, ... behind the name. Only
     * recordings are renamed and replaced. If the path is a directory, a device or a file that is no recording, nothing
     * is written, the log says so, and the program runs on.
     *
     * @param value null to write none
     * @return this
     */
    public RecorderOptions output(File value) {
        output = value;
        return this;
    }

    /**
     * Which threads are recorded.
     *
     * @param value {@link #THREADS_MAIN}, {@link #THREADS_CHOSEN} or {@link #THREADS_ALL}
     * @return this
     */
    public RecorderOptions threads(int value) {
        threads = value;
        return this;
    }

    /**
     * How many records the main thread's ring holds before the oldest are overwritten.
     *
     * @param value rounded up to a power of two, 1,024 to 2^26; 1,048,576 (8 MiB) if not set
     * @return this
     */
    public RecorderOptions ringRecords(int value) {
        ringRecords = powerOfTwo(value);
        return this;
    }

    /**
     * How many records the ring of each other thread holds that is recorded.
     *
     * @param value rounded up to a power of two, 1,024 to 2^26; 131,072 (1 MiB) if not set, so that a server of many
     *     threads does not fill its memory
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
     * The unit of the records' times. It is written into the recording.
     *
     * @param value nanoseconds, 1 to 1,000,000,000; 1,000,000 if not set
     * @return this
     */
    public RecorderOptions tickNanos(long value) {
        tickNanos = Math.max(1, Math.min(1000000000L, value));
        return this;
    }

    /**
     * How often the clock that records are stamped with is moved.
     *
     * @param value milliseconds, 5 if not set; 0 reads the platform's clock for every record, which is exact and
     *     some ten times as expensive
     * @return this
     */
    public RecorderOptions clockPeriodMillis(int value) {
        clockPeriodMillis = Math.max(0, value);
        return this;
    }

    /**
     * How long a message may take before it is reported as slow.
     *
     * @param value milliseconds, 700 if not set
     * @return this
     */
    public RecorderOptions slowMillis(int value) {
        slowMillis = Math.max(1, value);
        return this;
    }

    /**
     * Whether every record goes into the recording, or only those of slow messages.
     *
     * @param value false if not set
     * @return this
     */
    public RecorderOptions everyRecord(boolean value) {
        everyRecord = value;
        return this;
    }

    /**
     * How much the recordings may take on disk: a file that has reached its size is set aside and a new one begun,
     * and the oldest is deleted.
     *
     * @param bytes of one file, at least 65,536; 64 MiB if not set
     * @param files how many are kept, the current one included, at least 1; 4 if not set
     * @return this
     */
    public RecorderOptions limit(long bytes, int files) {
        maxFileBytes = Math.max(1 << 16, bytes);
        maxFiles = Math.max(1, files);
        return this;
    }

    /**
     * How many messages are remembered.
     *
     * @param entries of the history, where short messages are merged; 200 if not set
     * @param recent how many of the last messages are kept one by one; 5,000 if not set
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
     * Has slow messages logged with their longest calls by name, for a developer who looks on.
     *
     * @param value null to log none, which is the default
     * @return this
     */
    public RecorderOptions mapping(MappingReader value) {
        mapping = value;
        return this;
    }

    /**
     * Something that a reader of the recording should know: {@code package}, {@code versionName}, {@code process},
     * {@code device} and the like. The mapping's digest and the tick are written without being asked for.
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
     * Sets an option by its name, as properties and files do.
     *
     * <pre>
     *   slow           milliseconds
     *   tick           ms | us
     *   threads        main | chosen | all
     *   ring           records that a thread's ring holds, the main one's and each other's
     *   every-record   true | false
     * </pre>
     *
     * @param key one of these
     * @param value what the setter of this name takes; a ring of less than 1,024 records or more than 2^26 is refused
     * @return this
     * @throws IllegalArgumentException if there is no such key or the value is none that it takes; the message says what
     *     it takes, and nothing is changed
     */
    public RecorderOptions set(String key, String value) {
        if (key.equals("slow")) {
            return slowMillis(number(value, "milliseconds", 1, Integer.MAX_VALUE));
        } else if (key.equals("tick")) {
            return tickNanos(choice(value, "ms", "us") == 0 ? MILLISECOND : 1000);
        } else if (key.equals("threads")) {
            return threads(choice(value, "main", "chosen", "all"));
        } else if (key.equals("ring")) {
            int n = number(value, "records", MIN_RING, MAX_RING);
            return ringRecords(n).threadRingRecords(n);
        } else if (key.equals("every-record")) {
            return everyRecord(choice(value, "true", "false") == 0);
        }
        throw new IllegalArgumentException("there is no such key");
    }

    /**
     * Reads a number.
     *
     * @param value decimal digits
     * @param unit what is counted, for the message
     * @param least the least that is taken
     * @param most the most that is taken
     * @return the number
     * @throws IllegalArgumentException if it is none or out of range
     */
    public static int number(String value, String unit, int least, int most) {
        try {
            int n = Integer.parseInt(value);
            if (n >= least && n <= most) {
                return n;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new IllegalArgumentException("want a whole number of " + unit + ", "
                + (most == Integer.MAX_VALUE ? "at least " + least : least + " to " + most));
    }

    /**
     * Reads one of several words.
     *
     * @param value the word
     * @param of those that are taken
     * @return its place among them, from 0
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
