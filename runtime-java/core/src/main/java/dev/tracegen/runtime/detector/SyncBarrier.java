package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.RecorderOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds a sync barrier that was not removed. While there is one, the Looper runs asynchronous messages only: the app
 * draws nothing and answers nothing, and the thread waits. A Looper monitor sees no slow message then, and no message
 * at all later.
 *
 * <p>Every 2 s the detector posts a synchronous message. If it has not run at the next poll, two probes are posted in
 * each of five rounds of 1 s: one synchronous, then one asynchronous message. An asynchronous probe that has run before
 * the synchronous one can only have passed it by a barrier. If this is so in five rounds, the barrier is reported. If
 * the synchronous one has run, there is no barrier any more. If neither has run, the thread is busy, and the round does
 * not count.
 *
 * <p>So the queue is never read, which apps for Android 17 cannot do, and a barrier is never removed: it may be in use.
 *
 * <p>All is decided on the detectors' thread. The Looper only marks probes as answered.
 */
public final class SyncBarrier extends Detector {
    private static final String NAME = "sync-barrier";
    private static final long ROUND_NANOS = 1000000000L;
    private static final int ROUNDS = 5;

    /** How many rounds there are at most, if some do not count. After that it is tried anew at the next poll. */
    private static final int MAX_ROUNDS = 15;

    /** Work that runs so much too late says nothing: the process was frozen, or the machine is overloaded. */
    private static final long LATE_NANOS = 1000000000L;

    private final long pollNanos;
    private Environment environment;

    /** The probes of the present rounds that may be in the queue. */
    private final List<Probe> probes = new ArrayList<Probe>();

    /** A synchronous probe that stays in the queue: it runs when no barrier is there any more. Null for none. */
    private Probe sign;
    private long signNanos;

    // The rounds.
    private Probe synchronous;
    private Probe asynchronous;
    private int rounds;
    private int counted;

    /** The barrier that was reported and is still there; null for none. */
    private Incident.Builder reported;

    /** A message without work. */
    private static final class Probe implements Runnable {
        /** When it ran. 0 before that. */
        volatile long answeredNanos;
        private final Environment environment;

        Probe(Environment environment) {
            this.environment = environment;
        }

        @Override
        public void run() {
            answeredNanos = environment.nanoTime();
        }

        boolean answered() {
            return answeredNanos != 0;
        }
    }

    /**
     * Creates a detector that is off.
     *
     * @param o {@code sync-barrier.poll-millis}
     */
    public SyncBarrier(RecorderOptions o) {
        super(NAME);
        pollNanos = o.number("sync-barrier.poll-millis") * 1000000L;
    }

    @Override
    protected void start(Environment e) {
        environment = e;
        Probe probe = new Probe(e);
        if (!e.loop.post(probe, true)) {
            throw new IllegalStateException("the Looper takes no asynchronous messages");
        }
        e.loop.remove(probe);
        poll(e.nanoTime() + pollNanos);
    }

    @Override
    protected void stop() {
        removeProbes();
        removeSign();
        synchronous = null;
        asynchronous = null;
        reported = null;
        environment = null;
    }

    private void poll(final long due) {
        environment.at(due, new Runnable() {
            @Override
            public void run() {
                boolean rounds = look(environment.nanoTime() - due);
                if (rounds) {
                    beginRounds();
                } else {
                    poll(environment.nanoTime() + pollNanos);
                }
            }
        });
    }

    /** Looks whether the last synchronous message has run. Returns whether there may be a barrier. */
    private boolean look(long late) {
        long now = environment.nanoTime();
        if (reported != null) {
            if (!sign.answered()) {
                return false;
            }
            reported.end(sign.answeredNanos).report();
            reported = null;
            removeSign();
        }
        if (late >= LATE_NANOS) {
            removeSign();
            return false;
        }
        if (sign != null && !sign.answered()) {
            return now - signNanos >= pollNanos;
        }
        sign = new Probe(environment);
        signNanos = now;
        environment.loop.post(sign, false);
        return false;
    }

    private void beginRounds() {
        rounds = 0;
        counted = 0;
        round();
    }

    /** Posts two probes, and checks them after a second. */
    private void round() {
        // The synchronous one first: without a barrier it runs first.
        synchronous = post(false);
        asynchronous = post(true);
        if (synchronous == null || asynchronous == null) {
            // The Looper has ended.
            removeProbes();
            return;
        }
        final long due = environment.nanoTime() + ROUND_NANOS;
        environment.at(due, new Runnable() {
            @Override
            public void run() {
                endRound(environment.nanoTime() - due);
            }
        });
    }

    private Probe post(boolean asynchronous) {
        Probe probe = new Probe(environment);
        if (!environment.loop.post(probe, asynchronous)) {
            return null;
        }
        probes.add(probe);
        return probe;
    }

    private void endRound(long late) {
        boolean passed = asynchronous.answered() && !synchronous.answered();
        boolean gone = synchronous.answered() || sign.answered();
        removeProbes();
        rounds++;
        if (late < LATE_NANOS && passed) {
            counted++;
        }
        if (gone || counted < ROUNDS && rounds == MAX_ROUNDS) {
            poll(environment.nanoTime() + pollNanos);
        } else if (counted < ROUNDS) {
            round();
        } else {
            found();
            poll(environment.nanoTime() + pollNanos);
        }
    }

    private void found() {
        reported = environment.incident(NAME).begin(signNanos)
                .fact("age-millis", (environment.nanoTime() - signNanos) / 1000000)
                .fact("asynchronous-answered", counted).fact("synchronous-answered", 0);
        reported.report();
    }

    private void removeSign() {
        if (sign != null) {
            environment.loop.remove(sign);
            sign = null;
        }
    }

    private void removeProbes() {
        for (Probe p : probes) {
            environment.loop.remove(p);
        }
        probes.clear();
    }
}
