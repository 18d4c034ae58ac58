package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Platform;
import dev.tracegen.runtime.RecorderThread;
import java.util.PriorityQueue;
import java.util.concurrent.locks.LockSupport;

/** A schedule with a thread of its own, {@code tracegen-detectors}. The thread sleeps until the next work is due. */
public final class ThreadSchedule extends Schedule implements Runnable {
    private final Platform platform;
    private final Thread thread = new RecorderThread(this, "tracegen-detectors");

    /** Guarded by itself. */
    private final PriorityQueue<Work> queue = new PriorityQueue<Work>();
    private long next;
    private volatile boolean stopped;

    /**
     * Creates a schedule and starts its thread.
     *
     * @param platform the clock, and where a failure is logged
     */
    public ThreadSchedule(Platform platform) {
        this.platform = platform;
        thread.start();
    }

    private final class Work extends Task implements Comparable<Work> {
        private final long nanos;
        private final long number;
        private final Runnable run;

        Work(long nanos, long number, Runnable run) {
            this.nanos = nanos;
            this.number = number;
            this.run = run;
        }

        @Override
        public int compareTo(Work other) {
            int c = Long.signum(nanos - other.nanos);
            return c != 0 ? c : Long.signum(number - other.number);
        }

        @Override
        public void cancel() {
            synchronized (queue) {
                queue.remove(this);
            }
        }
    }

    @Override
    public long nanoTime() {
        return platform.nanoTime();
    }

    @Override
    public Task at(long nanos, Runnable work) {
        Work w;
        boolean first;
        synchronized (queue) {
            w = new Work(nanos, next++, work);
            queue.add(w);
            first = queue.peek() == w;
        }
        if (first) {
            LockSupport.unpark(thread);
        }
        return w;
    }

    @Override
    public void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }

    @Override
    public void run() {
        while (!stopped) {
            Thread.interrupted();
            Work due = null;
            long pause = Long.MAX_VALUE;
            synchronized (queue) {
                Work w = queue.peek();
                if (w != null) {
                    pause = w.nanos - platform.nanoTime();
                    due = pause <= 0 ? queue.poll() : null;
                }
            }
            if (due != null) {
                run(due.run);
            } else if (pause == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, pause);
            }
        }
    }

    private void run(Runnable work) {
        try {
            work.run();
        } catch (Throwable e) {
            // Detectors handles what detectors throw. This thread must survive in any case.
            LockSupport.parkNanos(this, 1000000L);
        }
    }
}
