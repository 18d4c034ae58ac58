package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Platform;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

/**
 * A schedule on a clock that the test moves, so that hours take milliseconds. All work runs on the thread of the test,
 * within {@link #advance}. Methods for time may be called on any thread, all others on that of the test only.
 *
 * <p>There are two kinds of work: that of the detectors, and that of the machine, which {@link #machine} and
 * {@link #progress} add, a Looper for instance. The detectors' thread alone may be late ({@link #starve}), or the whole
 * process may be frozen ({@link #freeze}), as under Android's freezer, with a debugger that suspends all threads, or
 * where the clock jumps.
 */
public final class VirtualSchedule extends Schedule {
    /** When the clock begins: no time is 0. */
    static final long BEGIN_NANOS = 5000000000L;

    /** More work than any test has at one time. */
    private static final int ENDLESS = 1000000;

    private final PriorityQueue<Work> detectors = new PriorityQueue<Work>();
    private final PriorityQueue<Work> machine = new PriorityQueue<Work>();
    private volatile long now = BEGIN_NANOS;
    private volatile long asleep;
    private volatile boolean debugger;

    /** Whether {@link #nanoTime} fails. */
    boolean broken;
    private long next;
    private boolean stopped;
    private long runs;

    private final class Work extends Task implements Comparable<Work> {
        private final PriorityQueue<Work> queue;
        private final long nanos;
        private final long number;
        private final boolean progress;
        private final Runnable run;

        Work(PriorityQueue<Work> queue, long nanos, long number, boolean progress, Runnable run) {
            this.queue = queue;
            this.nanos = nanos;
            this.number = number;
            this.progress = progress;
            this.run = run;
        }

        @Override
        public int compareTo(Work other) {
            int c = Long.signum(nanos - other.nanos);
            return c != 0 ? c : Long.signum(number - other.number);
        }

        @Override
        public void cancel() {
            queue.remove(this);
        }
    }

    /** A platform with this clock. It logs nothing. */
    private final class Clock extends Platform {
        private final Thread main = Thread.currentThread();

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public long elapsedRealtimeNanos() {
            return now + asleep;
        }

        @Override
        public long wallMillis() {
            return 1795000000000L + (now + asleep) / 1000000;
        }

        @Override
        public boolean debuggerAttached() {
            return debugger;
        }

        @Override
        public Thread mainThread() {
            return main;
        }

        @Override
        public void log(String line) {
        }
    }

    /**
     * Returns a platform with this clock, whose main thread is the calling thread. Any thread may use it.
     *
     * @return a new object
     */
    public Platform platform() {
        return new Clock();
    }

    @Override
    public long nanoTime() {
        if (broken) {
            throw new IllegalStateException("no clock");
        }
        return now;
    }

    @Override
    public Task at(long nanos, Runnable work) {
        return add(detectors, nanos, false, work);
    }

    /** Adds work of the machine for a time. A freeze makes it late. */
    Task machine(long nanos, Runnable work) {
        return add(machine, nanos, false, work);
    }

    /** Adds the end of something that takes so long while the process runs. A freeze postpones it. */
    Task progress(long duration, Runnable end) {
        return add(machine, now + duration, true, end);
    }

    private Task add(PriorityQueue<Work> queue, long nanos, boolean progress, Runnable work) {
        Work w = new Work(queue, nanos, next++, progress, work);
        if (!stopped || queue == machine) {
            queue.add(w);
        }
        return w;
    }

    /** Drops the detectors' work. The machine goes on. */
    @Override
    public void stop() {
        stopped = true;
        detectors.clear();
    }

    /** Lets so much time pass. All work that is due runs at its time, or at once if that is past. */
    public void advance(long nanos) {
        run(now + nanos, true);
    }

    /** Lets so much time pass in which the detectors' thread gets no processor. Its work runs in the next advance. */
    public void starve(long nanos) {
        run(now + nanos, false);
    }

    /** Lets so much time pass in which nothing runs. What is due meanwhile runs late, in the next advance. */
    public void freeze(long nanos) {
        now += nanos;
        List<Work> postponed = new ArrayList<Work>();
        for (Work w : new ArrayList<Work>(machine)) {
            if (w.progress) {
                machine.remove(w);
                postponed.add(new Work(machine, w.nanos + nanos, w.number, true, w.run));
            }
        }
        machine.addAll(postponed);
    }

    /** Lets the device sleep for so long: this clock stops, only {@link Platform#elapsedRealtimeNanos} goes on. */
    public void sleep(long nanos) {
        asleep += nanos;
    }

    /** Attaches or detaches a debugger. */
    public void debugger(boolean attached) {
        debugger = attached;
    }

    /** Returns how much work of the detectors waits for its time. */
    public int waiting() {
        return detectors.size();
    }

    /** Returns how often work of the detectors has run. */
    public long runs() {
        return runs;
    }

    private void run(long end, boolean withDetectors) {
        long atOneTime = 0;
        for (;;) {
            Work d = withDetectors ? detectors.peek() : null;
            Work m = machine.peek();
            // What was added first runs first at the same time.
            Work w = d == null ? m : m == null || d.compareTo(m) < 0 ? d : m;
            if (w == null || w.nanos > end) {
                break;
            }
            atOneTime = w.nanos > now ? 0 : atOneTime + 1;
            if (atOneTime > ENDLESS) {
                throw new IllegalStateException("work without end at " + now);
            }
            now = Math.max(now, w.nanos);
            w.queue.remove(w);
            runs += w == d ? 1 : 0;
            w.run.run();
        }
        now = Math.max(now, end);
    }
}
