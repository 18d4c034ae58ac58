package dev.tracegen.runtime;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The stack of a thread at one moment. Immutable. */
public final class ThreadStack {
    /** The name of the thread. */
    public final String thread;

    /** When it was taken, in {@link Platform#nanoTime()}. */
    public final long nanos;

    /** The state of the thread; null if unknown. */
    public final Thread.@Nullable State state;

    /** The frames, the innermost first; empty if the thread had none. */
    public final List<StackTraceElement> frames;

    ThreadStack(String thread, long nanos, Thread.State state, List<StackTraceElement> frames) {
        this.thread = thread;
        this.nanos = nanos;
        this.state = state;
        this.frames = frames;
    }

    /** Takes the stack of a thread now. */
    public static ThreadStack of(Thread thread, Platform platform) {
        Thread.State state = thread.getState();
        return of(thread.getName(), platform.nanoTime(), state, thread.getStackTrace());
    }

    /**
     * Returns a stack that was taken before.
     *
     * @param nanos when it was taken, in {@link Platform#nanoTime()}
     * @param state the state of the thread; null if unknown
     * @param frames the frames, the innermost first
     */
    public static ThreadStack of(String thread, long nanos, Thread.@Nullable State state,
            StackTraceElement[] frames) {
        return new ThreadStack(thread, nanos, state, Collections.unmodifiableList(Arrays.asList(frames.clone())));
    }
}
