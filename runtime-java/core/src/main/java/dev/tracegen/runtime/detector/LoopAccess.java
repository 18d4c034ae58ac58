package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.ThreadTrace;
import org.jspecify.annotations.Nullable;

/** A Looper, as far as detectors need it. All methods may be called on any thread and return at once. */
public abstract class LoopAccess {
    /** The first entry of a message queue, if it is a sync barrier. Immutable. */
    public static final class Barrier {
        /** What removes the barrier. */
        public final int token;

        /** When it was posted, in {@link Schedule#nanoTime}. */
        public final long postedNanos;

        /**
         * Creates a description.
         *
         * @param token what removes it
         * @param postedNanos when it was posted
         */
        public Barrier(int token, long postedNanos) {
            this.token = token;
            this.postedNanos = postedNanos;
        }
    }

    /**
     * Returns the trace of the Looper's thread.
     *
     * @return never null
     */
    public abstract ThreadTrace trace();

    /**
     * Returns the Looper's thread.
     *
     * @return never null
     */
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
     * Reports whether {@link #barrier} can be read on this device.
     *
     * @return false where the queue is hidden
     */
    public abstract boolean canSeeQueue();

    /**
     * Returns the sync barrier at the head of the queue.
     *
     * @return null if there is none, or if it cannot be read
     */
    public abstract @Nullable Barrier barrier();

    /**
     * Removes a sync barrier.
     *
     * @param token from {@link Barrier}
     * @return false if that is not possible here, or if there is no such barrier any more
     */
    public abstract boolean removeBarrier(int token);

    /**
     * Returns when the message, IdleHandler or input event that runs now began.
     *
     * @return the time in {@link Schedule#nanoTime}; 0 if none runs, as far as can be seen
     */
    public abstract long runningSince();
}
