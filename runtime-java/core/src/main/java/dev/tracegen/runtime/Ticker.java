package dev.tracegen.runtime;

import java.util.concurrent.locks.LockSupport;

/**
 * The clock that records are stamped with. Each ring has the time, in ticks; a thread of the clock's own moves it in all
 * of them every few milliseconds, and each ring's thread may move its own to the exact time. It never goes back,
 * whoever moves it.
 *
 * <p>The thread pauses when no records have come for a while, and with that the fast path is taken away from
 * {@link AppMethodBeat}: the next record comes by {@link Recorder}, which moves the clock, wakes the thread and gives
 * the fast path back. So time goes on wherever records come from, in messages or out of them, and no wake-up can be
 * lost: it is not asked for once but by every record that finds the clock paused.
 */
final class Ticker implements Runnable {
    /** For how many periods without a record the thread goes on. */
    private static final int QUIET_PERIODS = 20;

    /** How long the thread waits when something went wrong, which may go wrong again. */
    private static final long FAILURE_NANOS = 100000000L;

    private final Recorder recorder;
    private final Platform platform;
    private final long baseNanos;
    private final long tickNanos;
    private final int periodMillis;
    private volatile Thread thread;
    private volatile boolean paused;
    private volatile boolean stopped;
    private long lastRecordCount = -1;
    private int quietPeriods;

    Ticker(Recorder recorder, Platform platform, long tickNanos, int periodMillis) {
        this.recorder = recorder;
        this.platform = platform;
        this.tickNanos = tickNanos;
        this.periodMillis = periodMillis;
        this.baseNanos = platform.nanoTime();
    }

    private long ticks(long nanos) {
        return (nanos - baseNanos) / tickNanos & Ring.TIME_MASK;
    }

    private void advanceAll() {
        long ticks = ticks(platform.nanoTime());
        for (ThreadTrace t : recorder.traces()) {
            Ring ring = t.existingRing();
            if (ring != null) {
                ring.advance(ticks);
            }
        }
    }

    /** What a record's time 0 is, in nanoseconds of the platform's clock. */
    long baseNanos() {
        return baseNanos;
    }

    long tickNanos() {
        return tickNanos;
    }

    boolean paused() {
        return paused;
    }

    /** Whether every record reads the platform's clock. */
    boolean exact() {
        return periodMillis == 0;
    }

    /** Whether the fast path may be used: the clock moves by itself. */
    boolean running() {
        return !paused && !stopped && periodMillis > 0;
    }

    /** Begins to move. With a period of 0 every record moves the clock itself and there is no thread. */
    void start() {
        if (periodMillis > 0) {
            Thread t = new RecorderThread(this, "tracegen-clock");
            t.setPriority(Thread.MIN_PRIORITY + 2);
            thread = t;
            t.start();
        }
    }

    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }

    /**
     * Moves a ring's time to the exact one, which it gives in nanoseconds, and sees to it that the clock runs.
     *
     * @param ring null for none
     */
    long updateTime(Ring ring) {
        long nanos = platform.nanoTime();
        if (ring == null) {
            return nanos;
        }
        ring.advance(ticks(nanos));
        if (paused) {
            // Before any thread may believe again that the time in its ring is right.
            advanceAll();
            paused = false;
            recorder.updateFastPath();
            LockSupport.unpark(thread);
        }
        return nanos;
    }

    @Override
    public void run() {
        while (!stopped) {
            try {
                // An interrupted thread does not park, and somebody may interrupt all of a group.
                Thread.interrupted();
                runOnce();
            } catch (Throwable e) {
                recorder.failed(e);
                LockSupport.parkNanos(this, FAILURE_NANOS);
            }
        }
    }

    private void runOnce() {
        advanceAll();
        long records = recorder.recordCount();
        quietPeriods = records == lastRecordCount ? quietPeriods + 1 : 0;
        lastRecordCount = records;
        recorder.expire();
        if (quietPeriods < QUIET_PERIODS) {
            LockSupport.parkNanos(this, periodMillis * 1000000L);
            return;
        }
        quietPeriods = 0;
        paused = true;
        recorder.updateFastPath();
        while (paused && !stopped) {
            Thread.interrupted();
            LockSupport.parkNanos(this, recorder.untilExpiry());
            recorder.expire();
        }
    }
}
