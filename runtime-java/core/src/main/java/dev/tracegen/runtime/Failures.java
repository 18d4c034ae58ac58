package dev.tracegen.runtime;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Counts the recorder's own failures. A recorder that fails again and again is turned off: it does not do its work, and
 * may cost the app something each time. The loops of the recorder's threads pause for a tenth of a second after a
 * failure, so one that always fails turns the recorder off within a second.
 *
 * <p>Not counted is what says nothing about the recorder: that there is no memory or no stack left, and what the disk
 * or a listener of the app does.
 */
final class Failures {
    /** So many failures within {@link #PERIOD_NANOS} are too many. */
    static final int TOO_MANY = 5;
    static final long PERIOD_NANOS = 60000000000L;

    /** Null in tests. */
    private final Recorder recorder;
    private final AtomicBoolean logged = new AtomicBoolean();
    private final AtomicBoolean listenerLogged = new AtomicBoolean();

    /** When the last failures occurred. */
    private final long[] times = new long[TOO_MANY];
    private int count;
    private boolean given;
    private Throwable first;

    Failures(Recorder recorder) {
        this.recorder = recorder;
    }

    /**
     * Logs a failure of the recorder itself, only the first time: it may occur again with every message. If there are
     * too many, it turns recording off, and logs that with the first of them. Never throws:
     * the threads of the recorder must survive when there is no memory even for the line.
     */
    void failed(Throwable e) {
        try {
            Throwable first = add(e, System.nanoTime());
            if (first != null && recorder.recording()) {
                recorder.stop();
                recorder.platform().log("recording is turned off and the program runs on, because the recorder has "
                        + "failed " + TOO_MANY + " times in " + PERIOD_NANOS / 1000000000L
                        + " s; the first failure was: " + first);
            } else if (logged.compareAndSet(false, true)) {
                recorder.platform().log("the recorder failed and continues: " + e);
            }
        } catch (Throwable again) {
            // The next failure is logged instead.
            logged.set(false);
        }
    }

    /** Logs what a listener of the app has thrown, only the first time. Never throws. */
    void listenerFailed(Throwable e) {
        try {
            if (listenerLogged.compareAndSet(false, true)) {
                recorder.platform().log("a listener of the app failed, and recording continues: " + e);
            }
        } catch (Throwable again) {
            // As above.
        }
    }

    /**
     * Counts a failure.
     *
     * @param nanos the time of a clock that does not fail
     * @return the first failure, if they are too many now, and only once; null otherwise
     */
    synchronized Throwable add(Throwable e, long nanos) {
        if (e instanceof OutOfMemoryError || e instanceof StackOverflowError || e instanceof java.io.IOException) {
            return null;
        }
        first = first == null ? e : first;
        times[count % TOO_MANY] = nanos;
        count++;
        // The oldest of the last five is the one that is replaced next.
        boolean often = count >= TOO_MANY && nanos - times[count % TOO_MANY] <= PERIOD_NANOS;
        if (given || !often) {
            return null;
        }
        given = true;
        return first;
    }
}
