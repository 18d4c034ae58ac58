package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.ThreadTrace;

/** A Looper, as far as detectors need it. All methods may be called on any thread and return at once. */
public abstract class LoopAccess {
    /** Returns the trace of the Looper's thread. */
    public abstract ThreadTrace trace();

    /** Returns the Looper's thread. */
    public abstract Thread thread();

    /**
     * Posts work to the end of the queue.
     *
     * @param work what runs on the Looper's thread; it must not throw
     * @param asynchronous whether a sync barrier does not hold it up
     * @return false if that is not possible: the Looper has ended, or there are no asynchronous messages here
     */
    public abstract boolean post(Runnable work, boolean asynchronous);

    /**
     * Removes work that was posted and has not begun.
     *
     * @param work what was given to {@link #post}
     */
    public abstract void remove(Runnable work);

    /**
     * Returns when the message or IdleHandler that runs now began.
     *
     * @return the time in {@link Schedule#nanoTime}; 0 if none runs, as far as can be seen
     */
    public abstract long runningSince();
}
