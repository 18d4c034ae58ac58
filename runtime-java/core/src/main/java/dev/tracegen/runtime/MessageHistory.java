package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The last messages that a thread has run, short ones merged.
 *
 * <p>An app runs very many messages, and almost none of them is slow. So the list uses its objects again, and makes no
 * {@link MessageRecord} before it is read. A message allocates nothing once the list is full.
 */
final class MessageHistory {
    /** Short messages are merged up to this total time, in nanoseconds, so that a busy period is still split up. */
    private static final long MERGED_NANOS = 300000000L;

    private final long mergeNanos;
    private final Last merged;
    private long longestOfLast;

    /** The facts of a {@link MessageRecord}. Used again. */
    static final class Entry {
        private int kind;
        private int count;
        private long sequence;
        private long beginNanos;
        private long wallNanos;
        private long cpuNanos;
        private long firstRecord;
        private long endRecord;

        // The text that a Looper has made. Null of an outermost call, which has a method.
        private String text;
        private int method;

        // The method that posted it, and when; 0 if unknown.
        private int postedBy;
        private long postedNanos;

        /** Sets all but the text. */
        void set(int kind, long sequence, int count, long beginNanos, long wallNanos, long cpuNanos, long firstRecord,
                long endRecord) {
            this.kind = kind;
            this.sequence = sequence;
            this.count = count;
            this.beginNanos = beginNanos;
            this.wallNanos = wallNanos;
            this.cpuNanos = cpuNanos;
            this.firstRecord = firstRecord;
            this.endRecord = endRecord;
        }

        /** Sets the text. */
        void text(String value) {
            text = value;
        }

        /** Sets the method that posted the message, 0 if it is unknown, and when that was. */
        void postedBy(int id, long nanos) {
            postedBy = id;
            postedNanos = nanos;
        }

        /** Sets the method of an outermost call in place of a text. */
        void method(int id) {
            text = null;
            method = id;
        }

        long wallNanos() {
            return wallNanos;
        }

        private void copyText(Entry from) {
            method = from.method;
            postedBy = from.postedBy;
            postedNanos = from.postedNanos;
            text = from.text;
        }

        private void copy(Entry from) {
            set(from.kind, from.sequence, from.count, from.beginNanos, from.wallNanos, from.cpuNanos, from.firstRecord,
                    from.endRecord);
            copyText(from);
        }

        /** Returns {@link MessageRecord#SYSTEM} or {@link MessageRecord#NORMAL}, by the text. */
        int kindOfText() {
            return text != null && text.contains("android.app.ActivityThread$H") ? MessageRecord.SYSTEM
                    : MessageRecord.NORMAL;
        }

        /** Returns a record of the present values. */
        MessageRecord record() {
            return new MessageRecord(kind, sequence, count, beginNanos, wallNanos, cpuNanos,
                    text == null ? "method " + method : text, postedBy, postedNanos, firstRecord, endRecord);
        }
    }

    /**
     * The last entries. The objects are made one by one, because there may be very many threads, and used again for the
     * next ones when the list is full.
     */
    private static final class Last {
        private final int most;
        private Entry[] entries = new Entry[0];
        private int size;

        /** The place of the oldest entry, once the list is full. */
        private int oldest;

        Last(int most) {
            this.most = most;
        }

        /** Returns the new last entry, which may have old values. */
        Entry add() {
            if (size == most) {
                Entry e = entries[oldest];
                oldest = oldest + 1 == most ? 0 : oldest + 1;
                return e;
            }
            if (size == entries.length) {
                entries = Arrays.copyOf(entries, Math.min(most, Math.max(16, 2 * size)));
            }
            Entry e = new Entry();
            entries[size++] = e;
            return e;
        }

        /** Returns the last entry, null if there is none. */
        Entry last() {
            return size == 0 ? null : entries[oldest == 0 ? size - 1 : oldest - 1];
        }

        /** Returns the last entry that began at a time, null if there is none. */
        Entry at(long beginNanos) {
            for (int k = size - 1; k >= 0; k--) {
                Entry e = entries[(oldest + k) % size];
                if (e.beginNanos == beginNanos) {
                    return e;
                }
            }
            return null;
        }

        List<MessageRecord> records() {
            List<MessageRecord> all = new ArrayList<MessageRecord>(size + 1);
            for (int k = 0; k < size; k++) {
                all.add(entries[(oldest + k) % size].record());
            }
            return all;
        }
    }

    MessageHistory(RecorderOptions options) {
        merged = new Last(options.history);
        mergeNanos = options.mergeMillis * 1000000L;
    }

    /** Adds a message. The entry is copied. */
    synchronized void add(Entry m) {
        Entry last = merged.last();
        boolean mergeable = m.kind == MessageRecord.NORMAL || m.kind == MessageRecord.IDLE_HANDLER;
        boolean small = mergeable && m.wallNanos < mergeNanos;
        if (small && last != null && last.kind == MessageRecord.MERGED && last.wallNanos < MERGED_NANOS) {
            merge(last, m);
        } else {
            longestOfLast = m.wallNanos;
            Entry e = merged.add();
            e.copy(m);
            e.kind = small ? MessageRecord.MERGED : m.kind;
        }
    }

    synchronized void idle(long beginNanos, long endNanos) {
        Entry e = merged.add();
        e.set(MessageRecord.IDLE, 0, 0, beginNanos, endNanos - beginNanos, 0, 0, 0);
        e.text("");
    }

    private void merge(Entry a, Entry b) {
        if (b.wallNanos > longestOfLast) {
            longestOfLast = b.wallNanos;
            a.copyText(b);
        }
        a.cpuNanos = a.cpuNanos < 0 || b.cpuNanos < 0 ? -1 : a.cpuNanos + b.cpuNanos;
        a.count++;
        a.wallNanos = b.beginNanos + b.wallNanos - a.beginNanos;
        a.endRecord = b.endRecord;
    }

    synchronized List<MessageRecord> snapshot() {
        return merged.records();
    }

    /** Returns the message that began at a time; null if there is none, it was short, or too many have run since. */
    synchronized MessageRecord at(long beginNanos) {
        Entry e = merged.at(beginNanos);
        return e == null || e.kind == MessageRecord.MERGED ? null : e.record();
    }
}
