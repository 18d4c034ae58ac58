package dev.tracegen.runtime.detector;

import org.jspecify.annotations.Nullable;

/** What the system says of an app that does not respond. {@link #state} may wait for the system. */
public abstract class AnrEvidence {
    /** The system's statement that this process does not respond. Immutable. */
    public static final class State {
        /** Another one for another ANR. */
        final String id;

        /** One of the words of {@link SystemLimit}; null if the system names none of them. */
        final @Nullable String reason;

        /**
         * Creates a statement.
         *
         * @param shortText {@code ActivityManager.ProcessErrorStateInfo.shortMsg}; may be null
         * @param longText its {@code longMsg}; may be null
         */
        public State(@Nullable String shortText, @Nullable String longText) {
            this.id = shortText + "\n" + longText;
            this.reason = SystemLimit.reason(shortText);
        }
    }

    /**
     * Returns what the system says now. Called on a thread of its own.
     *
     * @return null if the process responds, or if that is unknown
     */
    public abstract @Nullable State state();
}
