package dev.tracegen.runtime;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** The messages that a thread has run, in two bounded lists: older ones merged, and the last ones one by one. */
final class MessageHistory {
    /** Short messages are merged up to this total time, in nanoseconds, so that a busy period is still split up. */
    private static final long MERGED_NANOS = 300000000L;

    private int entries;
    private int dense;
    private long mergeNanos;

    // They begin small: there may be very many threads.
    private final ArrayDeque<MessageRecord> merged = new ArrayDeque<MessageRecord>(1);
    private final ArrayDeque<MessageRecord> recent = new ArrayDeque<MessageRecord>(1);
    private long longestOfLast;

    MessageHistory(RecorderOptions options) {
        limit(options);
    }

    /** Changes the limits. Entries that are too many are removed, the oldest first. */
    synchronized void limit(RecorderOptions options) {
        entries = options.history;
        dense = options.dense;
        mergeNanos = options.mergeMillis * 1000000L;
        while (merged.size() > entries) {
            merged.removeFirst();
        }
        while (recent.size() > dense) {
            recent.removeFirst();
        }
    }

    /** Returns the kind of a message by its text. */
    static int kindOf(String text) {
        return text != null && text.contains("android.app.ActivityThread$H") ? MessageRecord.SYSTEM
                : MessageRecord.NORMAL;
    }

    synchronized void add(MessageRecord m) {
        if (recent.size() == dense) {
            recent.removeFirst();
        }
        recent.addLast(m);
        MessageRecord last = merged.peekLast();
        boolean small = m.kind == MessageRecord.NORMAL && m.wallNanos < mergeNanos;
        if (small && last != null && last.kind == MessageRecord.MERGED && last.wallNanos < MERGED_NANOS) {
            merged.removeLast();
            merged.addLast(merge(last, m));
        } else {
            longestOfLast = m.wallNanos;
            push(small ? as(MessageRecord.MERGED, m) : m);
        }
    }

    synchronized void idle(long beginNanos, long endNanos) {
        push(new MessageRecord(MessageRecord.IDLE, 0, 0, beginNanos, endNanos - beginNanos, 0, "", 0, 0));
    }

    private void push(MessageRecord m) {
        if (merged.size() == entries) {
            merged.removeFirst();
        }
        merged.addLast(m);
    }

    private MessageRecord merge(MessageRecord a, MessageRecord b) {
        String text = a.description;
        if (b.wallNanos > longestOfLast) {
            longestOfLast = b.wallNanos;
            text = b.description;
        }
        long cpu = a.cpuNanos < 0 || b.cpuNanos < 0 ? -1 : a.cpuNanos + b.cpuNanos;
        return new MessageRecord(MessageRecord.MERGED, a.sequence, a.count + 1, a.beginNanos,
                b.beginNanos + b.wallNanos - a.beginNanos, cpu, text, a.firstRecord, b.endRecord);
    }

    private static MessageRecord as(int kind, MessageRecord m) {
        return new MessageRecord(kind, m.sequence, m.count, m.beginNanos, m.wallNanos, m.cpuNanos, m.description,
                m.firstRecord, m.endRecord);
    }

    synchronized List<MessageRecord> snapshot() {
        return new ArrayList<MessageRecord>(merged);
    }

    synchronized List<MessageRecord> recent() {
        return new ArrayList<MessageRecord>(recent);
    }
}
