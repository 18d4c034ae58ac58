package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A stall: a message, or an outermost call of a thread without a Looper, that lasted at least the slow threshold.
 * Immutable.
 */
public final class Stall {
    /**
     * What it was: {@link MessageRecord#NORMAL} for a message or an outermost call, or
     * {@link MessageRecord#IDLE_HANDLER}.
     */
    public final int kind;

    /** The name of the thread that it ran on. */
    public final String thread;

    /**
     * The text of the message: the Looper's own, or the ID of the outermost method. It is shortened and redacted as in
     * the recording, see {@link TextRedactor}.
     */
    public final String description;

    /** When it began, in {@link Platform#nanoTime()}. */
    public final long beginNanos;

    /** How long it lasted, in nanoseconds. */
    public final long wallNanos;

    /**
     * For how much of that time the process did not run, because it was frozen or stopped or a debugger was attached,
     * in nanoseconds. A stall lasted at least the slow threshold without this time.
     */
    public final long suspendedNanos;

    /** The CPU time of its thread meanwhile, in nanoseconds; -1 if unknown. */
    public final long cpuNanos;

    /** How many garbage collections ended meanwhile; -1 if unknown. */
    public final long gcCount;

    /** How long those took, in milliseconds; -1 if unknown. */
    public final long gcMillis;

    /**
     * The state of the thread when the threshold was passed; null if the message ended before the recorder checked
     * it.
     */
    public final Thread.@Nullable State stateAtThreshold;

    /**
     * Which thread held the lock that the thread waited for when the threshold was passed, and the class of the lock;
     * null if it waited for none or if that is unknown.
     */
    public final @Nullable String lockOwner;

    /**
     * The ID of the method that posted the message, 0 if it is unknown. It is known only in programs that were
     * instrumented with {@code --trace-posts}.
     */
    public final int postedBy;

    /** When that was, in {@link Platform#nanoTime()}; 0 if it is unknown. */
    public final long postedNanos;

    /** The scene, see {@link Recorder#scene}; may be null. */
    public final @Nullable String scene;

    /** Whether the app was in the foreground, see {@link Recorder#foreground}. */
    public final boolean foreground;

    /**
     * What was known of the processor, memory, disk and input and output when the threshold was passed, by the keys of
     * trace/FORMAT.md, chunk MACHINE. With {@code end-} before a key, the same when the stall had ended. Unmodifiable;
     * empty if nothing was known.
     */
    public final Map<String, String> machine;

    /** The traced calls of the message. */
    public final CallTree tree;

    /** The unit of the times in {@link #tree}, in nanoseconds. */
    public final long tickNanos;

    /** The number of the message on its thread, counted from 0. With {@link #threadIndex} it identifies the stall. */
    public final long number;

    /** The number of the thread in the recording. */
    public final int threadIndex;

    /** The first stacks of the thread and of threads that it waited for, taken while the stall lasted; at most 16. */
    public final List<ThreadStack> samples;

    /** Identifies stalls of the same cause: a hash of the IDs on the hot path, see {@link CallTree#stackKey}. */
    public final String stackKey;

    /** The history of the thread before the stall, the oldest entry first. */
    public final List<MessageRecord> history;

    /** The messages that waited when the threshold was passed, the next one first; null if they are not available. */
    public final @Nullable List<PendingMessage> pending;

    /** Creates a stall with the texts as they are delivered; with the original ones if there is no object for that. */
    Stall(ThreadTrace trace, MessageRecord message, StallFacts facts, CallTree tree, List<MessageRecord> history,
            Texts texts) {
        this.kind = message.kind == MessageRecord.IDLE_HANDLER ? message.kind : MessageRecord.NORMAL;
        this.thread = texts == null ? trace.name() : texts.thread(trace.name());
        this.description = texts == null ? message.description : texts.message(message.description);
        this.beginNanos = message.beginNanos;
        this.wallNanos = message.wallNanos;
        this.suspendedNanos = facts.suspendedNanos;
        this.cpuNanos = message.cpuNanos;
        this.gcCount = facts.gcCount;
        this.gcMillis = facts.gcMillis;
        this.stateAtThreshold = facts.state;
        this.lockOwner = texts == null ? facts.lockOwner : texts.lockOwner(facts.lockOwner);
        this.postedBy = message.postedBy;
        this.postedNanos = message.postedNanos;
        this.scene = texts == null ? facts.scene : texts.scene(facts.scene);
        this.foreground = facts.foreground;
        this.machine = facts.machine;
        this.pending = facts.pending;
        this.tree = tree;
        this.stackKey = tree.stackKey();
        this.history = texts == null ? history : texts.history(history);
        this.tickNanos = facts.tickNanos;
        this.number = message.sequence;
        this.threadIndex = trace.index;
        this.samples = Collections.unmodifiableList(texts == null ? new ArrayList<ThreadStack>(facts.taken)
                : texts.stacks(facts.taken));
    }
}
