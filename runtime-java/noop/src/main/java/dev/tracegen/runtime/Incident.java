package dev.tracegen.runtime;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a detector has found. The no-op creates none. */
public final class Incident {
    /** Counts the incidents of one recording. */
    public final long number;

    /** The detector that found it, as in the configuration: {@code sync-barrier}, for instance. */
    public final String detector;

    /** What was found, one of the kinds of trace/FORMAT.md. A detector may find several kinds. */
    public final String kind;

    /** A name of what was slow, such as the class of an IdleHandler or an activity; empty if there is none. */
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

    /** The traced calls that belong to it, as of a thread's records; null if it has none. */
    public final @Nullable CallTree tree;

    /** The unit of the times in {@link #tree}, in nanoseconds. */
    public final long tickNanos;

    private Incident() {
        number = 0;
        detector = "";
        kind = "";
        what = "";
        beginNanos = 0;
        endNanos = 0;
        scene = null;
        foreground = false;
        facts = Collections.emptyMap();
        stacks = Collections.emptyList();
        tree = null;
        tickNanos = 0;
    }

    /**
     * Returns the name of the thread that it concerns.
     *
     * @return null if it concerns the whole process
     */
    public @Nullable String thread() {
        return null;
    }

    /**
     * Returns how long it lasted.
     *
     * @return nanoseconds; 0 if it has no end yet
     */
    public long wallNanos() {
        return 0;
    }

    /** Collects nothing. */
    public static final class Builder {
        Builder() {
        }

        /**
         * Does nothing.
         *
         * @param name ignored
         * @return this
         */
        public Builder what(String name) {
            return this;
        }

        /**
         * Does nothing.
         *
         * @param name ignored
         * @return this
         */
        public Builder scene(@Nullable String name) {
            return this;
        }

        /**
         * Does nothing.
         *
         * @param nanos ignored
         * @return this
         */
        public Builder begin(long nanos) {
            return this;
        }

        /**
         * Does nothing.
         *
         * @param nanos ignored
         * @return this
         */
        public Builder end(long nanos) {
            return this;
        }

        /**
         * Does nothing.
         *
         * @param thread ignored
         * @return this
         */
        public Builder thread(ThreadTrace thread) {
            return this;
        }

        /**
         * Does nothing.
         *
         * @param first ignored
         * @param end ignored
         * @return this
         */
        public Builder records(long first, long end) {
            return this;
        }

        /**
         * Does nothing.
         *
         * @param key ignored
         * @param value ignored
         * @return this
         */
        public Builder fact(String key, @Nullable Object value) {
            return this;
        }

        /**
         * Does nothing.
         *
         * @param stack ignored
         * @return this
         */
        public Builder stack(ThreadStack stack) {
            return this;
        }

        /**
         * Does nothing.
         *
         * @param message ignored
         * @return this
         */
        public Builder message(@Nullable MessageRecord message) {
            return this;
        }

        /**
         * Does nothing.
         *
         * @param all ignored
         * @return this
         */
        public Builder stacks(Collection<ThreadStack> all) {
            return this;
        }

        /** Does nothing. */
        public void report() {
        }
    }
}
