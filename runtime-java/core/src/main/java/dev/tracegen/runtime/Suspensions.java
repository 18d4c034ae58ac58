package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.List;

/**
 * Finds the times in which the process did not run: it was frozen or stopped, or a debugger was attached. Such time is
 * no stall of the app. Used by the sampler only.
 *
 * <p>The sampler is a thread that wants to run every few milliseconds. If it comes back from a pause late by more than
 * {@link #LATE_NANOS}, and the process has used almost no CPU time meanwhile, then no thread of the process ran. If the
 * process has used CPU time, then only the sampler was late, and the app may have been slow. So it may if the sampler
 * was ready to run in half of that time: on a machine with very much to do, no thread of the process has a processor.
 */
final class Suspensions {
    static final int STOPPED = 1;
    static final int SLEPT = 2;
    static final int DEBUGGED = 3;

    /** The sampler must come so late, or the device must have slept for so long. */
    static final long LATE_NANOS = 500000000L;

    /** The process has used almost no CPU time if it is at most this share of the time. */
    private static final int CPU_SHARE = 10;

    /** How often it is read for how long the sampler had no processor, which takes tens of microseconds. */
    private static final long WAIT_NANOS = 1000000000L;

    /** The time with a debugger is written in pieces of this length, so that the last ones survive a kill. */
    private static final long PIECE_NANOS = 1000000000L;

    /** How many times are kept. If there are more, the oldest ones are forgotten. */
    private static final int MOST = 256;

    private final Platform platform;

    // The times, the oldest first. They do not overlap.
    private final long[] begins = new long[MOST];
    private final long[] ends = new long[MOST];
    private int size;

    // The last moment at which the process ran, as far as the sampler saw, and the clocks then.
    private long markNanos;
    private long markCpu;
    private long markRealtime;
    private boolean marked;
    private boolean debugged;

    // When it was read last for how long the sampler had no processor, and that.
    private long waitReadNanos;
    private long waitNanos = -1;

    /** When the time with a debugger began that was not returned yet, 0 if there is none. */
    private long pieceBegin;

    private List<Time> found = new ArrayList<Time>();

    /** A time in which the process did not run. Immutable. */
    static final class Time {
        final long begin;
        final long end;
        final int cause;

        Time(long begin, long end, int cause) {
            this.begin = begin;
            this.end = end;
            this.cause = cause;
        }
    }

    Suspensions(Platform platform) {
        this.platform = platform;
    }

    /**
     * Sets the moment from which on the process is known to run.
     *
     * @param nanos the moment, in {@link Platform#nanoTime()}
     * @param cpuNanos {@link Platform#processCpuNanos} at that moment
     */
    void mark(long nanos, long cpuNanos) {
        marked = true;
        markNanos = nanos;
        markCpu = cpuNanos;
        markRealtime = platform.elapsedRealtimeNanos() - platform.nanoTime();
        if (waitReadNanos == 0 || nanos - waitReadNanos >= WAIT_NANOS) {
            waitReadNanos = nanos;
            waitNanos = platform.processorWaitNanos();
        }
    }

    /** To be called behind a pause of the sampler that should have lasted so long at most. */
    void afterPause(long pauseNanos) {
        look(pauseNanos, true);
    }

    /**
     * To be called before something is decided that depends on the time: the process may have been stopped since the
     * last call.
     */
    void look() {
        look(0, false);
    }

    private void look(long pauseNanos, boolean markAlways) {
        long now = platform.nanoTime();
        if (!marked) {
            mark(now, platform.processCpuNanos());
            return;
        }
        boolean wasDebugged = debugged;
        debugged = platform.debuggerAttached();
        long lateNanos = now - markNanos - pauseNanos;
        boolean late = lateNanos > LATE_NANOS;
        if (wasDebugged || debugged) {
            addDebugged(now);
        } else if (late && isIdle(now - markNanos) && !isStarved(lateNanos)) {
            add(new Time(markNanos + pauseNanos, now, STOPPED));
        }
        if (!late && !markAlways && !wasDebugged && !debugged) {
            return;
        }
        // The clock does not count deep sleep, so that is a moment and no time of a message.
        if (platform.elapsedRealtimeNanos() - platform.nanoTime() - markRealtime > LATE_NANOS) {
            found.add(new Time(now, now, SLEPT));
        }
        mark(now, platform.processCpuNanos());
    }

    /** Reports whether the process has used almost no CPU time since the mark. */
    private boolean isIdle(long nanos) {
        long cpu = platform.processCpuNanos();
        return cpu >= 0 && markCpu >= 0 && cpu - markCpu <= nanos / CPU_SHARE;
    }

    /** Reports whether the sampler was ready to run for half of the time for which it was late. */
    private boolean isStarved(long lateNanos) {
        long waited = waitNanos < 0 ? -1 : platform.processorWaitNanos();
        return waited >= 0 && waited - waitNanos >= lateNanos / 2;
    }

    private void addDebugged(long now) {
        if (pieceBegin == 0) {
            pieceBegin = markNanos;
        }
        join(markNanos, now);
        if (!debugged || now - pieceBegin >= PIECE_NANOS) {
            found.add(new Time(pieceBegin, now, DEBUGGED));
            pieceBegin = debugged ? now : 0;
        }
    }

    private void add(Time t) {
        join(t.begin, t.end);
        found.add(t);
    }

    /** Adds a time, to the last one if that ends where it begins. */
    private void join(long begin, long end) {
        if (size > 0 && ends[size - 1] == begin) {
            ends[size - 1] = end;
            return;
        }
        if (size == MOST) {
            System.arraycopy(begins, 1, begins, 0, MOST - 1);
            System.arraycopy(ends, 1, ends, 0, MOST - 1);
            size--;
        }
        begins[size] = begin;
        ends[size++] = end;
    }

    /** Reports whether a debugger is attached, as far as is known from the last look. */
    boolean debugged() {
        return debugged;
    }

    /** Returns for how many nanoseconds between two moments the process did not run, deep sleep not included. */
    long within(long begin, long end) {
        long sum = 0;
        for (int k = size - 1; k >= 0 && ends[k] > begin; k--) {
            sum += Math.max(0, Math.min(end, ends[k]) - Math.max(begin, begins[k]));
        }
        return sum;
    }

    /** Returns the times that are not written yet, in their order. Empty if there are none. */
    List<Time> found() {
        return found;
    }

    /** To be called when the times of {@link #found} were handed over. */
    void written() {
        found = new ArrayList<Time>();
    }

    /** To be called at the end: ends the time with a debugger. */
    void finish() {
        look();
        if (pieceBegin != 0) {
            found.add(new Time(pieceBegin, markNanos, DEBUGGED));
            pieceBegin = 0;
        }
    }
}
