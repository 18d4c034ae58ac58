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

    Platform platform = new JvmPlatform();
    File output;
    int threads = THREADS_MAIN;
    int ringRecords = 1 << 20;
    long tickNanos = 1000000;
    int clockPeriodMillis = 5;
    int slowMillis = 700;
    boolean everyRecord;

    /** Whether each outermost traced call of a thread counts as a message: for threads without a queue. */
    boolean outermostCalls;

    long maxFileBytes = 64L << 20;
    int maxFiles = 4;
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
        tickNanos = o.tickNanos;
        clockPeriodMillis = o.clockPeriodMillis;
        slowMillis = o.slowMillis;
        everyRecord = o.everyRecord;
        outermostCalls = o.outermostCalls;
        maxFileBytes = o.maxFileBytes;
        maxFiles = o.maxFiles;
        history = o.history;
        dense = o.dense;
        mergeMillis = o.mergeMillis;
        meta = new LinkedHashMap<String, String>(o.meta);
    }

    /**
     * Where time and facts about the machine come from.
     *
     * @param value not null
     * @return this
     */
    public RecorderOptions platform(Platform value) {
        platform = value;
        return this;
    }

    /**
     * The file that recordings are appended to; older ones have {@code .1}, {@code .2}, ... behind the name.
     *
     * @param value null to keep none
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
     * How many records a thread's ring holds before the oldest are overwritten.
     *
     * @param value rounded up to a power of two, 1,024 to 2^26; 1,048,576 (8 MiB) if not set
     * @return this
     */
    public RecorderOptions ringRecords(int value) {
        int n = 1024;
        while (n < value && n < 1 << 26) {
            n <<= 1;
        }
        ringRecords = n;
        return this;
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
}
