package dev.tracegen.runtime.detector;

/**
 * Runs the work of all detectors on one thread, at given times. It is also their only clock.
 *
 * <p>Work may come late, because the machine is busy, or because the process was frozen or the device slept. Work that
 * draws conclusions from time must compare the times at which it was due and at which it ran.
 */
public abstract class Schedule {
    /** Work that waits for its time. */
    public abstract static class Task {
        /** Prevents the work from running if it has not begun. Any thread may call it, more than once too. */
        public abstract void cancel();
    }

    /**
     * Returns the current time.
     *
     * @return nanoseconds, in {@link dev.tracegen.runtime.Platform#nanoTime}
     */
    public abstract long nanoTime();

    /**
     * Runs work at a time, or as soon as possible if that is past. Work of the same time runs in the order of the
     * calls. Any thread may call it. What the work throws is handled by {@link Detectors}.
     *
     * @param nanos the time, in {@link #nanoTime}
     * @return to cancel it
     */
    public abstract Task at(long nanos, Runnable work);

    /** Ends the thread. Work that has not begun does not run. Returns at once. */
    public abstract void stop();
}
