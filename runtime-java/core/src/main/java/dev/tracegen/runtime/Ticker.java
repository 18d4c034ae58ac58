package dev.tracegen.runtime;

import java.util.concurrent.locks.LockSupport;

/**
 * The clock that sets the time of records. Each ring holds the current time in ticks. A thread of the ticker updates
 * it in all rings every few milliseconds, and the owner of a ring may update its own. The time of a ring never goes
 * back.
 *
 * <p>The thread pauses when no records have come for a while. Then it also takes the fast path away from
 * {@link AppMethodBeat}, so that each record goes through {@link Recorder}. That reads the clock for the record and
 * wakes the thread. Only the thread itself ends the pause: it updates the time of all rings, and then restores the
 * fast path.
 *
 * <p>There may be very many threads that wait. The time of a ring that got no record for a while is not moved: its
 * thread reads the clock before its next record. The main thread, whose records take the fast path, does not look.
 *
 * <p><b>Why no failure stops the time.</b> In an app's thread each call may throw a StackOverflowError. Such a thread
 * only sets {@link #wanted} and then wakes the ticker's thread. Both may be repeated, and each record does so until the
 * pause has ended. The ticker's thread repeats what it has to do in each period: it sets the times of all rings, and
 * the fast path by the current state. So whatever was interrupted is done by the next record or in the next period.
 * A wake-up cannot be lost: the ticker's thread looks at {@link #wanted} before it parks, and if it is set behind
 * that, the thread is woken behind that, so it does not park or it returns at once.
 */
final class Ticker implements Runnable {
    /** How many periods without a record pass before the thread pauses. */
    private static final int QUIET_PERIODS = 20;

    /** The clock is late if it moves so many periods after it should have. */
    private static final int LATE_PERIODS = 2;

    /** How long the thread waits after a failure, which may occur again at once. */
    private static final long FAILURE_NANOS = 100000000L;

    private final Recorder recorder;
    private final Platform platform;
    private final long baseNanos;
    private final long tickNanos;
    private final LateTimes late = new LateTimes();
    private volatile int periodMillis;
    private volatile Thread thread;
    private volatile boolean paused;

    /** Set when a record has come in a pause. */
    private volatile boolean wanted;
    private volatile boolean stopped;

    /** The CPU time of the thread when it ended; 0 before. */
    private volatile long endedNanos;

    // Used by the ticker's thread.
    private int quietPeriods;

    /** When the time of the rings was updated last; 0 if it was not since the begin or since a pause. */
    private long lastMove;

    Ticker(Recorder recorder, Platform platform, long tickNanos, int periodMillis) {
        this.recorder = recorder;
        this.platform = platform;
        this.tickNanos = tickNanos;
        this.periodMillis = periodMillis;
        this.baseNanos = platform.nanoTime();
    }

    /** Returns the time in ticks. When the bits of a time are full, it stays at the last one and ends the recording. */
    private long ticks(long nanos) {
        long ticks = (nanos - baseNanos) / tickNanos;
        if (ticks <= Ring.TIME_MASK) {
            return ticks;
        }
        if (recorder.recording()) {
            platform.log("the recording ends here, and the program runs on: the times of records are full"
                    + " after 2^43 ticks of " + tickNanos + " ns; a longer tick makes recordings longer");
            recorder.stop();
        }
        return Ring.TIME_MASK;
    }

    /** Moves the time of the rings that got records lately. Returns whether there was one since the last call. */
    private boolean advanceAll(long nanos) {
        long ticks = ticks(nanos);
        boolean any = false;
        for (ThreadTrace t : recorder.threads.all()) {
            Ring ring = t.still ? null : t.existingRing();
            if (ring != null) {
                ring.advance(ticks);
                long records = ring.sequence();
                t.quietPeriods = records == t.tickedRecords ? t.quietPeriods + 1 : 0;
                t.tickedRecords = records;
                any |= t.quietPeriods == 0;
                t.still = !t.main && t.quietPeriods >= QUIET_PERIODS;
            }
        }
        return any;
    }

    /** Returns the time of tick 0, in nanoseconds of the platform's clock. */
    long baseNanos() {
        return baseNanos;
    }

    long tickNanos() {
        return tickNanos;
    }

    /** Returns when the time did not move although it had to. */
    LateTimes late() {
        return late;
    }

    /** Reports whether every record reads the platform's clock now: it is set so, or the thread pauses. */
    boolean exact() {
        return paused || periodMillis == 0;
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

    /** Changes the period. The thread ends if it is 0, and is started if it was. */
    void period(int millis) {
        boolean begin = periodMillis == 0;
        periodMillis = millis;
        if (begin) {
            start();
        }
        LockSupport.unpark(thread);
    }

    /** Returns the CPU time of the thread, also when it has ended; -1 if it is not known. */
    long cpuNanos() {
        Thread t = thread;
        return Math.max(endedNanos, t == null ? 0 : platform.threadCpuNanos(t));
    }

    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }

    /**
     * Updates the time of a ring to the exact one, and wakes the thread if it pauses.
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
            wanted = true;
            LockSupport.unpark(thread);
        }
        return nanos;
    }

    @Override
    public void run() {
        while (!stopped && periodMillis > 0) {
            try {
                // An interrupted thread does not park, and an app may interrupt all threads of a group.
                Thread.interrupted();
                runOnce();
            } catch (Throwable e) {
                recorder.failures.failed(e);
                LockSupport.parkNanos(this, FAILURE_NANOS);
            }
        }
        // With a period of 0 every record reads the clock and needs to wake no thread.
        paused = false;
        endedNanos = platform.threadCpuNanos();
    }

    /** Moves the time, or continues a pause. A failure at any place is repaired by the next call. */
    private void runOnce() {
        EarlyStart.expire(recorder);
        if (paused) {
            recorder.fastPath.update();
            // Records that took the fast path just before it ended are found by their number.
            if (!wanted && !advanceAll(platform.nanoTime())) {
                lastMove = 0;
                LockSupport.parkNanos(this, EarlyStart.untilExpiry(recorder));
                return;
            }
            wanted = false;
            quietPeriods = 0;
            // All rings must have the right time before any thread may use the fast path again.
            advanceAll(platform.nanoTime());
            paused = false;
        }
        move();
        recorder.fastPath.repair();
        if (quietPeriods < QUIET_PERIODS) {
            LockSupport.parkNanos(this, periodMillis * 1000000L);
        } else {
            // What a record of the last pause has set late would end this one at once.
            wanted = false;
            paused = true;
        }
    }

    private void move() {
        long nanos = platform.nanoTime();
        boolean quiet = !advanceAll(nanos);
        quietPeriods = quiet ? quietPeriods + 1 : 0;
        if (!quiet && lastMove != 0 && nanos - lastMove > (1 + LATE_PERIODS) * periodMillis * 1000000L) {
            late.add(lastMove, nanos);
        }
        lastMove = nanos;
    }
}
