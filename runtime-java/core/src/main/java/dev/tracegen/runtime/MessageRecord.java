package dev.tracegen.runtime;

/** One entry of a thread's history: a message, several short messages, or a time without messages. Immutable. */
public final class MessageRecord {
    /** One message. */
    public static final int NORMAL = 0;

    /** The thread waited for messages. */
    public static final int IDLE = 1;

    /** A message of the system to the app, handled by {@code android.app.ActivityThread$H}. */
    public static final int SYSTEM = 2;

    /** A message that was still running when this entry was made. */
    public static final int RUNNING = 3;

    /** Several short messages that followed each other. */
    public static final int MERGED = 4;

    /** A run of an IdleHandler. */
    public static final int IDLE_HANDLER = 5;

    /** One of the constants above. */
    public final int kind;

    /** The number of the first message on its thread, counted from 0. */
    public final long sequence;

    /** How many messages the entry stands for; 0 for {@link #IDLE}. */
    public final int count;

    /** When the first message began, in {@link Platform#nanoTime()}. */
    public final long beginNanos;

    /** The time from the begin of the first message to the end of the last, in nanoseconds. */
    public final long wallNanos;

    /** The CPU time of the thread, in nanoseconds, to a millisecond; -1 if unknown. */
    public final long cpuNanos;

    /** The text of the message, or of the longest one if several were merged; empty for {@link #IDLE}. */
    public final String description;

    /**
     * The ID of the method that posted the message, 0 if it is unknown. It is known only in programs that were
     * instrumented with {@code --trace-posts}.
     */
    public final int postedBy;

    /** When that was, in {@link Platform#nanoTime()}; 0 if it is unknown. */
    public final long postedNanos;

    /** The number of the first record that belongs to the entry. */
    final long firstRecord;

    /** The number of the first record behind the entry. */
    final long endRecord;

    MessageRecord(int kind, long sequence, int count, long beginNanos, long wallNanos, long cpuNanos,
            String description, long firstRecord, long endRecord) {
        this(kind, sequence, count, beginNanos, wallNanos, cpuNanos, description, 0, 0, firstRecord, endRecord);
    }

    MessageRecord(int kind, long sequence, int count, long beginNanos, long wallNanos, long cpuNanos,
            String description, int postedBy, long postedNanos, long firstRecord, long endRecord) {
        this.kind = kind;
        this.sequence = sequence;
        this.count = count;
        this.beginNanos = beginNanos;
        this.wallNanos = wallNanos;
        this.cpuNanos = cpuNanos;
        this.description = description;
        this.postedBy = postedBy;
        this.postedNanos = postedNanos;
        this.firstRecord = firstRecord;
        this.endRecord = endRecord;
    }
}
