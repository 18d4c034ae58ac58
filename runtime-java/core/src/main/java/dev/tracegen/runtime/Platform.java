package dev.tracegen.runtime;

import java.util.Collections;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The clocks of the machine and facts about the virtual machine. The recorder reads them only through this class. The
 * default is the plain JVM; the Android part has its own subclass, and tests have one with a clock that they set.
 *
 * <p>All methods may be called on any thread at any time. They must neither block nor throw. An unknown fact is
 * {@code -1} or {@code null}, never a guess.
 */
public abstract class Platform {
    /**
     * Returns the time by which records, messages and frames are measured. It is monotonic and stops in deep sleep.
     * On Android it has the base of {@code SystemClock.uptimeMillis}, as {@code System.nanoTime} has.
     *
     * @return nanoseconds since a moment that is fixed while the process lives
     */
    public long nanoTime() {
        return System.nanoTime();
    }

    /**
     * Returns the time of day. It dates a recording and is never used to measure, because it may jump.
     *
     * @return milliseconds since 1970 in UTC
     */
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    /**
     * Returns the time including deep sleep, which is needed to distinguish deep sleep from work.
     *
     * @return nanoseconds since a fixed moment; the same as {@link #nanoTime} where there is no deep sleep
     */
    public long elapsedRealtimeNanos() {
        return nanoTime();
    }

    /**
     * Returns the CPU time of the calling thread.
     *
     * @return nanoseconds, -1 if unknown
     */
    public long threadCpuNanos() {
        return -1;
    }

    /**
     * Returns the CPU time of a thread.
     *
     * @return nanoseconds, -1 if unknown
     */
    public long threadCpuNanos(Thread thread) {
        return -1;
    }

    /**
     * Returns the CPU time of the process. The recorder compares it with the time that has passed, to find out whether
     * the process was stopped.
     *
     * @return nanoseconds of all threads together, -1 if unknown
     */
    public long processCpuNanos() {
        return -1;
    }

    /**
     * Returns for how long the calling thread was ready to run and had no processor. By it, the recorder distinguishes
     * a process that was stopped from one that had no processor.
     *
     * @return nanoseconds since the thread began, -1 if unknown
     */
    public long processorWaitNanos() {
        return -1;
    }

    /**
     * Reports whether a debugger is attached to the process. While one is, no stall is reported.
     *
     * @return false if there is none or if that is unknown
     */
    public boolean debuggerAttached() {
        return false;
    }

    /**
     * Returns the number of garbage collections.
     *
     * @return the number since the process began, -1 if unknown
     */
    public long gcCount() {
        return -1;
    }

    /**
     * Returns the total time of garbage collections.
     *
     * @return milliseconds since the process began, -1 if unknown
     */
    public long gcMillis() {
        return -1;
    }

    /**
     * Returns the monitor or lock that a thread waits for.
     *
     * @return null if the thread waits for none or if that is unknown
     */
    public @Nullable LockWait lockWait(Thread thread) {
        return null;
    }

    /**
     * Reads the state of the processor, memory, disk and input and output of the process, of a thread and of the
     * machine. It may read some small files, so it is never called on a thread of the app.
     *
     * @return as {@code MachineFacts.read} returns it: facts, and counters whose keys begin with {@code #}; empty if
     *     nothing is known
     */
    public Map<String, String> machineFacts(Thread thread) {
        return Collections.emptyMap();
    }

    /**
     * Returns the main thread, the only one that is recorded by default.
     *
     * @return the thread of the main Looper on Android, the thread that runs {@code main} on a JVM; null if unknown,
     *     and then the first thread that enters an instrumented method counts as the main thread
     */
    public abstract @Nullable Thread mainThread();

    /**
     * Logs a line for the developer. Not for frequent events.
     *
     * @param line one line without a line end
     */
    public abstract void log(String line);
}
