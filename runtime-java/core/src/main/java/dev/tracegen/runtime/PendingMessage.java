package dev.tracegen.runtime;

/** A message that waits in a queue. Immutable. */
public final class PendingMessage {
    /** When it is due, in {@link Platform#nanoTime()}. */
    public final long whenNanos;

    /** {@code Message.what}. */
    public final int what;

    /** The handler it is for, as its class names it; null for a synchronisation barrier. */
    public final String target;

    /** The class of its callback, null if it has none. */
    public final String callback;

    /** The barrier's token if {@link #target} is null, else {@code Message.arg1}. */
    public final int arg1;

    /** Whether barriers do not hold it back. */
    public final boolean asynchronous;

    /**
     * A message as the queue shows it.
     *
     * @param whenNanos when it is due, in {@link Platform#nanoTime()}
     * @param what {@code Message.what}
     * @param target the handler's class, null for a barrier
     * @param callback the callback's class, or null
     * @param arg1 {@code Message.arg1}
     * @param asynchronous whether barriers do not hold it back
     */
    public PendingMessage(long whenNanos, int what, String target, String callback, int arg1, boolean asynchronous) {
        this.whenNanos = whenNanos;
        this.what = what;
        this.target = target;
        this.callback = callback;
        this.arg1 = arg1;
        this.asynchronous = asynchronous;
    }
}
