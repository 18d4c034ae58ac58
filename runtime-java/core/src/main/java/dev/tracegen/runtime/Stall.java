package dev.tracegen.runtime;

import java.util.List;

/** What is known of a message that took too long. Immutable. */
public final class Stall {
    /** The name of the thread that it ran on. */
    public final String thread;

    /** What ran: the looper's text, what {@link ThreadTrace#describe} said, or the outermost method's ID. */
    public final String description;

    /** When it began, in {@link Platform#nanoTime()}. */
    public final long beginNanos;

    /** How long it took, in nanoseconds. */
    public final long wallNanos;

    /** How long of that its thread was on a processor, in nanoseconds; -1 if not known. */
    public final long cpuNanos;

    /** How many garbage collections there were meanwhile, -1 if not known. */
    public final long gcCount;

    /** How long they took, in milliseconds; -1 if not known. */
    public final long gcMillis;

    /** The thread's state when the threshold was passed; null if the message ended before anyone looked. */
    public final Thread.State stateAtThreshold;

    /** Who held what the thread waited for when the threshold was passed; null if nobody, or not known. */
    public final String lockOwner;

    /** What the scene was, see {@link Recorder#scene}; may be null. */
    public final String scene;

    /** Whether the app was in the foreground, see {@link Recorder#foreground}. */
    public final boolean foreground;

    /** The calls in it. */
    public final CallTree tree;

    /** Equal for messages that were slow for the same reason: a hash of the IDs on the hot path. */
    public final String stackKey;

    /** What ran before it, the oldest first. */
    public final List<MessageRecord> history;

    /** What waited behind it when the threshold was passed, the next one first; null if not available. */
    public final List<PendingMessage> pending;

    Stall(ThreadTrace trace, MessageRecord message, StallFacts facts, CallTree tree, List<MessageRecord> history) {
        this.thread = trace.name();
        this.description = message.description;
        this.beginNanos = message.beginNanos;
        this.wallNanos = message.wallNanos;
        this.cpuNanos = message.cpuNanos;
        this.gcCount = facts.gcCount;
        this.gcMillis = facts.gcMillis;
        this.stateAtThreshold = facts.state;
        this.lockOwner = facts.lockOwner;
        this.scene = facts.scene;
        this.foreground = facts.foreground;
        this.pending = facts.pending;
        this.tree = tree;
        this.stackKey = tree.stackKey();
        this.history = history;
    }
}
