package dev.tracegen.runtime.detector;

/**
 * A detector that looks at the Looper again and again. It finds out by itself whether the time between two looks may be
 * used: if a look comes late by more than {@link #LATE_NANOS}, the process was frozen or stopped, or its threads got no
 * processor, and if a debugger is attached, the app may stand still because of that. All measurements then begin anew.
 *
 * <p>While something is measured, there is a look at least every {@link #BEAT_NANOS}. So a freeze of at least the sum
 * of both is always found. A shorter one counts as time of the app.
 */
abstract class Watcher extends Detector {
    /** How late a look must be. The recorder uses the same limit for stalls. */
    static final long LATE_NANOS = 500000000L;

    /** The longest time between two looks while something is measured. */
    static final long BEAT_NANOS = 500000000L;

    static final long MILLI = 1000000L;

    private Environment environment;
    private long due;
    private long steadySince;

    /** How many incidents were found, for tests. */
    private volatile int found;

    private final Runnable look = new Runnable() {
        @Override
        public void run() {
            wake();
        }
    };

    Watcher(String name) {
        super(name);
    }

    @Override
    protected final void start(Environment e) {
        environment = e;
        due = e.nanoTime();
        steadySince = due;
        begin();
        e.at(due, look);
    }

    @Override
    protected final void stop() {
        end();
        environment = null;
    }

    private void wake() {
        long now = environment.nanoTime();
        if (now - due > LATE_NANOS || environment.recorder.platform().debuggerAttached()) {
            steadySince = now;
        }
        long next = now + BEAT_NANOS;
        try {
            next = look(now);
        } finally {
            // Also after a failure: Detectors decides when there were too many.
            due = Math.max(now, next);
            environment.at(due, look);
        }
    }

    final Environment environment() {
        return environment;
    }

    /** Returns the moment from which on the detectors' thread was on time. Older measurements do not count. */
    final long steadySince() {
        return steadySince;
    }

    /** Counts an incident that was found. */
    final void count() {
        found++;
    }

    /** Returns how many incidents were found. */
    final int found() {
        return found;
    }

    /** Prepares the first look. */
    abstract void begin();

    /**
     * Looks once.
     *
     * @return when to look again, in {@link Schedule#nanoTime}
     */
    abstract long look(long now);

    /** Removes what the detector has posted. */
    abstract void end();
}
