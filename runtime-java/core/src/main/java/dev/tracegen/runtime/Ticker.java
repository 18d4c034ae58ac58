package dev.tracegen.runtime;

import java.util.concurrent.locks.LockSupport;

/**
 * The clock that sets the time of records. Each ring holds the current time in ticks. A thread of the ticker updates
 * it in all rings every few milliseconds, and the owner of a ring may update its own. The time of a ring never goes
 * back.
 *
 * <p>The thread pauses when no records have come for a while. Then it also takes the fast path away from
 * {@link AppMethodBeat}, so that the next record goes through {@link Recorder}. That call updates the time, wakes the
 * thread and restores the fast path. A wake-up cannot be lost, because every record that finds the ticker paused does
 * the same.
 */
final class Ticker implements Runnable {
    /** How many periods without a record pass before the thread pauses. */
    private static final int QUIET_PERIODS = 20;

    /** How long the thread waits after a failure, which may occur again at once. */
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

    /** Returns the time of tick 0, in nanoseconds of the platform's clock. */
    long baseNanos() {
        return baseNanos;
    }

    long tickNanos() {
        return tickNanos;
    }

    boolean paused() {
        return paused;
    }

    /** Reports whether every record reads the platform's clock. */
    boolean exact() {
        return periodMillis == 0;
    }

    /** Reports whether the fast path may be used: the thread of the ticker updates the time. */
    boolean running() {
        return !paused && !stopped && periodMillis > 0;
    }

    /** Starts the thread. With a period of 0 there is none, and every record updates the time itself. */
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
     * Updates the time of a ring to the exact one, and resumes the ticker if it is paused.
     *
     * @param ring null for none
     * @return the exact time in nanoseconds of the platform's clock
     */
    long updateTime(Ring ring) {
        long nanos = platform.nanoTime();
        if (ring == null) {
            return nanos;
        }
        ring.advance(ticks(nanos));
        if (paused) {
            // All rings must have the right time before any thread may use the fast path again.
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
                // An interrupted thread does not park, and an app may interrupt all threads of a group.
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
