package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a detector has found, other than a {@link Stall}: a sync barrier that was never removed, a missed poll of a
 * watchdog, a slow start, dropped frames. Immutable, but for the records that the recorder copies for it.
 *
 * <p>An incident that lasts is reported twice: when it is found, because the process may not survive it, and when it
 * has ended. Both have the same number, and a reader takes the last one.
 */
public final class Incident {
    /** Counts the incidents of one recording. */
    public final long number;

    /** The detector that found it, as in the configuration: {@code sync-barrier}, for instance. */
    public final String detector;

    /** What was found, one of the kinds of trace/FORMAT.md. A detector may find several kinds. */
    public final String kind;

    /** The class or method that was slow, such as an IdleHandler or an activity; empty if there is none. */
    public final String what;

    /** When it began, in {@link Platform#nanoTime()}. */
    public final long beginNanos;

    /** When it ended, in {@link Platform#nanoTime()}; 0 if it had not ended when it was reported. */
    public final long endNanos;

    /** The scene, see {@link Recorder#scene}; may be null. */
    public final @Nullable String scene;

    /** Whether the app was in the foreground, see {@link Recorder#foreground}. */
    public final boolean foreground;

    /** What else is known, in the order in which it was added. Keys are words with hyphens, as in trace/FORMAT.md. */
    public final Map<String, String> facts;

    /** The stacks that were taken, the first one first. */
    public final List<ThreadStack> stacks;

    /** Whether {@link #what} is the text of a message as its Looper made it, which must be shortened. */
    private final boolean messageText;

    /** The thread that it concerns; null if it concerns the whole process. */
    final ThreadTrace trace;

    // The records of the thread that belong to it; none if both are equal.
    final long firstRecord;
    final long endRecord;

    /** The traced calls that belong to it, as of a thread's records; null if it has none. */
    public final @Nullable CallTree tree;

    /** The unit of the times in {@link #tree}, in nanoseconds. */
    public final long tickNanos;

    /** Set by the sampler before it hands the incident over. */
    RecordCopy records;

    private Incident(Builder b, Recorder recorder) {
        number = b.number;
        detector = b.detector;
        kind = b.kind;
        what = b.what;
        messageText = b.messageText;
        beginNanos = b.beginNanos;
        endNanos = b.endNanos;
        scene = b.scene == null ? recorder.scene() : b.scene;
        foreground = recorder.foreground();
        facts = Collections.unmodifiableMap(new LinkedHashMap<String, String>(b.facts));
        stacks = Collections.unmodifiableList(new ArrayList<ThreadStack>(b.stacks));
        trace = b.trace;
        firstRecord = b.firstRecord;
        endRecord = b.endRecord;
        tree = null;
        tickNanos = 1;
    }

    /** Creates a copy with other texts, and with the tree of its calls if there is a ticker. */
    Incident(Incident i, Texts texts, Ticker ticker) {
        number = i.number;
        detector = i.detector;
        kind = i.kind;
        what = i.messageText ? texts.message(i.what) : texts.incident(i.what);
        messageText = false;
        beginNanos = i.beginNanos;
        endNanos = i.endNanos;
        scene = texts.scene(i.scene);
        foreground = i.foreground;
        Map<String, String> redacted = new LinkedHashMap<String, String>();
        for (Map.Entry<String, String> e : i.facts.entrySet()) {
            redacted.put(e.getKey(), texts.incident(e.getValue()));
        }
        facts = Collections.unmodifiableMap(redacted);
        stacks = Collections.unmodifiableList(texts.stacks(i.stacks));
        trace = i.trace;
        firstRecord = i.firstRecord;
        endRecord = i.endRecord;
        records = i.records;
        boolean calls = ticker != null && records != null && records.records.length > 0;
        tickNanos = calls ? ticker.tickNanos() : 1;
        tree = !calls ? null : new CallTree(records.records,
                endNanos == 0 ? 0 : (endNanos - ticker.baseNanos()) / tickNanos);
    }

    /**
     * Returns the name of the thread that it concerns.
     *
     * @return null if it concerns the whole process
     */
    public @Nullable String thread() {
        return trace == null ? null : trace.name();
    }

    /**
     * Returns how long it lasted.
     *
     * @return nanoseconds; 0 if it has no end yet
     */
    public long wallNanos() {
        return endNanos == 0 ? 0 : endNanos - beginNanos;
    }

    /** Returns about how many bytes of memory the incident needs while it waits. */
    long bytes() {
        long n = 512 + 128L * facts.size() + (records == null ? 0 : 8L * records.records.length);
        for (ThreadStack s : stacks) {
            n += 64L * s.frames.size();
        }
        return n;
    }

    /** Collects the facts of an incident. Used by one thread at a time. */
    public static final class Builder {
        private final Recorder recorder;
        private final long number;
        private final String detector;
        private final String kind;
        private final Map<String, String> facts = new LinkedHashMap<String, String>();
        private final List<ThreadStack> stacks = new ArrayList<ThreadStack>();
        private String what = "";
        private boolean messageText;
        private String scene;
        private long beginNanos;
        private long endNanos;
        private ThreadTrace trace;
        private long firstRecord;
        private long endRecord;

        Builder(Recorder recorder, long number, String detector, String kind) {
            this.recorder = recorder;
            this.number = number;
            this.detector = detector;
            this.kind = kind;
            this.beginNanos = recorder.platform().nanoTime();
        }

        /**
         * Sets the name of the class or method that was slow.
         *
         * @param name no text of the user: the class of an activity, for instance
         */
        public Builder what(String name) {
            what = name;
            messageText = false;
            return this;
        }

        /** Sets the scene, if it is not the current one. */
        public Builder scene(@Nullable String name) {
            scene = name;
            return this;
        }

        /** Sets the begin, which is the creation of this object otherwise. */
        public Builder begin(long nanos) {
            beginNanos = nanos;
            return this;
        }

        /**
         * Sets the end.
         *
         * @param nanos the time, in {@link Platform#nanoTime()}; 0 while it lasts
         */
        public Builder end(long nanos) {
            endNanos = nanos;
            return this;
        }

        /**
         * Sets the thread that it concerns.
         *
         * @param thread from {@link Recorder#thread}
         */
        public Builder thread(ThreadTrace thread) {
            trace = thread;
            return this;
        }

        /**
         * Sets the records of the thread that belong to it. If only records of stalls are written, these are written
         * too.
         *
         * @param first the number of the first one, from {@link ThreadTrace#nextRecord}
         * @param end the number behind the last one
         */
        public Builder records(long first, long end) {
            firstRecord = first;
            endRecord = Math.max(first, end);
            return this;
        }

        /**
         * Takes name, begin and records from a message, and the end if it has ended. The name is shortened and
         * redacted as the text of the message is elsewhere, before it is written or delivered.
         *
         * @param message from {@link ThreadTrace#messageAt}; nothing is changed if it is null
         */
        public Builder message(@Nullable MessageRecord message) {
            if (message != null) {
                what = message.description;
                messageText = true;
                beginNanos = message.beginNanos;
                endNanos = message.kind == MessageRecord.RUNNING ? 0 : message.beginNanos + message.wallNanos;
                records(message.firstRecord, message.endRecord);
            }
            return this;
        }

        /**
         * Adds a fact, or replaces the one with the same key.
         *
         * @param key a word with hyphens
         * @param value anything; null is not added
         */
        public Builder fact(String key, @Nullable Object value) {
            if (value != null) {
                facts.put(key, value.toString());
            }
            return this;
        }

        /** Adds a stack. */
        public Builder stack(ThreadStack stack) {
            stacks.add(stack);
            return this;
        }

        /** Replaces all stacks. */
        public Builder stacks(Collection<ThreadStack> all) {
            stacks.clear();
            stacks.addAll(all);
            return this;
        }

        /**
         * Reports the incident as it is known now. Returns at once and never throws. May be called again when more is
         * known: the last report counts.
         */
        public void report() {
            recorder.report(build());
        }

        /** Returns the incident as it is known now. */
        Incident build() {
            return new Incident(this, recorder);
        }
    }
}
