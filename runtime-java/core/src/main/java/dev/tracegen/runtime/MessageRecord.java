package dev.tracegen.runtime;

/** One entry of what a thread did: a message, several short ones, or a time without any. Immutable. */
public final class MessageRecord {
    /** A message by itself. */
    public static final int NORMAL = 0;

    /** The thread waited for messages. */
    public static final int IDLE = 1;

    /** A message of the system to the app: of {@code android.app.ActivityThread$H}. */
    public static final int SYSTEM = 2;

    /** A message that was still running when this was written. */
    public static final int RUNNING = 3;

    /** Several short messages, one after the other. */
    public static final int MERGED = 4;

    /** One of the constants above. */
    public final int kind;

    /** The first message's number on its thread, counted from 0. */
    public final long sequence;

    /** How many messages this stands for; 0 if {@link #IDLE}. */
    public final int count;

    /** When the first began, in {@link Platform#nanoTime()}. */
    public final long beginNanos;

    /** From the first one's begin to the last one's end, in nanoseconds. */
    public final long wallNanos;

    /** How long the thread was on a processor, in nanoseconds; -1 if not known. */
    public final long cpuNanos;

    /** What ran, the longest of them if merged; empty if {@link #IDLE}. */
    public final String description;

    /** The first record in the thread's ring that belongs to it. */
    final long firstRecord;

    /** The first record that no longer does. */
    final long endRecord;

    MessageRecord(int kind, long sequence, int count, long beginNanos, long wallNanos, long cpuNanos,
            String description, long firstRecord, long endRecord) {
        this.kind = kind;
        this.sequence = sequence;
        this.count = count;
        this.beginNanos = beginNanos;
        this.wallNanos = wallNanos;
        this.cpuNanos = cpuNanos;
        this.description = description;
        this.firstRecord = firstRecord;
        this.endRecord = endRecord;
    }
}
