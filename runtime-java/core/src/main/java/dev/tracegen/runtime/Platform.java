package dev.tracegen.runtime;

/**
 * What the recorder asks of the machine that it runs on: the time, and facts about the virtual machine. This is
 * the one seam to the platform; the plain JVM's is the default, the Android part brings its own, tests bring one
 * with a clock that they move themselves.
 *
 * <p>All methods may be called from any thread and at any time, and must neither block nor throw. What is not
 * known is said so ({@code -1} or {@code null}), never guessed.
 */
public abstract class Platform {
    /**
     * The clock that everything is measured by: records, messages, frames. Monotonic, stands still in deep sleep.
     * On Android its base is that of {@code SystemClock.uptimeMillis} and {@code System.nanoTime}, which are one.
     *
     * @return nanoseconds since some moment that stays the same while the process lives
     */
    public long nanoTime() {
        return System.nanoTime();
    }

    /**
     * The time of day, by which a recording is found again. Never used to measure: it may jump.
     *
     * @return milliseconds since 1970 in UTC
     */
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    /**
     * Like {@link #nanoTime} but going on in deep sleep, so that sleep can be told from work.
     *
     * @return nanoseconds since some fixed moment; the same as {@link #nanoTime} where there is no deep sleep
     */
    public long elapsedRealtimeNanos() {
        return nanoTime();
    }

    /**
     * How long the calling thread has been on a processor.
     *
     * @return nanoseconds, -1 if not known
     */
    public long threadCpuNanos() {
        return -1;
    }

    /**
     * How long another thread has been on a processor.
     *
     * @param thread any, also one that has ended
     * @return nanoseconds, -1 if not known
     */
    public long threadCpuNanos(Thread thread) {
        return -1;
    }

    /**
     * How many garbage collections there were.
     *
     * @return the number since the process began, -1 if not known
     */
    public long gcCount() {
        return -1;
    }

    /**
     * How long garbage collections took.
     *
     * @return milliseconds since the process began, -1 if not known
     */
    public long gcMillis() {
        return -1;
    }

    /**
     * Who holds the monitor or lock that a thread waits for.
     *
     * @param thread any live thread
     * @return the owner's name and what is locked, in words for a reader; null if it waits for none or if it is not known
     */
    public String lockOwner(Thread thread) {
        return null;
    }

    /**
     * The thread that {@link #lockOwner} names.
     *
     * @param thread any live thread
     * @return null if it waits for no lock or if the owner is not known
     */
    public Thread lockOwnerThread(Thread thread) {
        return null;
    }

    /**
     * The thread that is recorded when no others are asked for.
     *
     * @return the main looper's thread on Android, the one that runs {@code main} on a JVM; null if not known, which
     *     makes it the thread that first enters an instrumented method
     */
    public abstract Thread mainThread();

    /**
     * Tells a developer something once. Not for what happens often.
     *
     * @param line one line without a line end
     */
    public abstract void log(String line);
}
