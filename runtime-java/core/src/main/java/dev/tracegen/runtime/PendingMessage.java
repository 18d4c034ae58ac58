package dev.tracegen.runtime;

import org.jspecify.annotations.Nullable;

/** A message that waits in a MessageQueue. Immutable. */
public final class PendingMessage {
    /** When it is due, in {@link Platform#nanoTime()}. */
    public final long whenNanos;

    /** {@code Message.what}. */
    public final int what;

    /** The class name of its Handler; null for a sync barrier. */
    public final @Nullable String target;

    /** The class name of its callback, null if it has none. */
    public final @Nullable String callback;

    /** {@code Message.arg1}; the token of the barrier if {@link #target} is null. */
    public final int arg1;

    /** Whether it is asynchronous: sync barriers do not stop it. */
    public final boolean asynchronous;

    /** Creates a waiting message. */
    public PendingMessage(long whenNanos, int what, @Nullable String target, @Nullable String callback, int arg1,
            boolean asynchronous) {
        this.whenNanos = whenNanos;
        this.what = what;
        this.target = target;
        this.callback = callback;
        this.arg1 = arg1;
        this.asynchronous = asynchronous;
    }
}
