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
 * <p>Every 2 s the detector looks at the head of the queue. If that has been a barrier for more than 3 s, it posts two
 * probes in each of five rounds of 1 s: one synchronous, then one asynchronous message. An asynchronous probe that has
 * run before the synchronous one can only have passed it by a barrier. If this is so in five rounds, the barrier is
 * reported. If the synchronous one has run, there is no barrier any more. If neither has run, the thread is busy, and
 * the round does not count.
 *
 * <p>Where the queue is hidden, a synchronous message takes the place of the first step: it is posted at each poll, and
 * the rounds begin if it has not run at the next one. The report says so. The barrier's token is unknown then, and it
 * cannot be removed.
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

    private final boolean remove;
    private final long pollNanos;
    private final long ageNanos;

    private Environment environment;

    /** The probes of the present rounds that may be in the queue. */
    private final List<Probe> probes = new ArrayList<Probe>();

    /** A synchronous probe that stays in the queue: it runs when no barrier is there any more. Null for none. */
    private Probe sign;
    private long signNanos;

    // The rounds.
    private LoopAccess.Barrier suspected;
    private long suspectedNanos;
    private Probe synchronous;
    private Probe asynchronous;
    private int rounds;
    private int counted;

    /** The barrier that was reported and is still there; null for none. */
    private Incident.Builder reported;
    private LoopAccess.Barrier reportedBarrier;

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
     * @param o {@code sync-barrier.remove}: whether a barrier that was found is removed, where that is possible;
     *     {@code sync-barrier.poll-millis}; {@code sync-barrier.age-millis}: how old a barrier may get
     */
    public SyncBarrier(RecorderOptions o) {
        super(NAME);
        remove = o.flag("sync-barrier.remove");
        pollNanos = o.number("sync-barrier.poll-millis") * 1000000L;
        ageNanos = o.number("sync-barrier.age-millis") * 1000000L;
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
        suspected = null;
        reported = null;
        reportedBarrier = null;
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

    /** Looks for a barrier that is too old. Returns whether there may be one that is not reported yet. */
    private boolean look(long late) {
        long now = environment.nanoTime();
        LoopAccess.Barrier head = environment.loop.barrier();
        if (reported != null) {
            boolean another = head != null && reportedBarrier != null && head.token != reportedBarrier.token;
            if (!sign.answered() && !another) {
                return false;
            }
            reported.end(sign.answered() ? sign.answeredNanos : now).report();
            reported = null;
            reportedBarrier = null;
            removeSign();
        }
        if (late >= LATE_NANOS) {
            removeSign();
            return false;
        }
        suspected = head;
        if (environment.loop.canSeeQueue()) {
            suspectedNanos = head == null ? 0 : head.postedNanos;
            return head != null && now - head.postedNanos >= ageNanos;
        }
        if (sign != null && !sign.answered()) {
            suspectedNanos = signNanos;
            return now - signNanos >= Math.min(ageNanos, pollNanos);
        }
        postSign(now);
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
        boolean gone = synchronous.answered() || sign != null && sign.answered() || !isAtHead(suspected);
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

    /** Reports whether a barrier is at the head of the queue; true also if that cannot be seen. */
    private boolean isAtHead(LoopAccess.Barrier barrier) {
        if (barrier == null || !environment.loop.canSeeQueue()) {
            return true;
        }
        LoopAccess.Barrier head = environment.loop.barrier();
        return head != null && head.token == barrier.token;
    }

    private void found() {
        long now = environment.nanoTime();
        Incident.Builder found = environment.incident(NAME).begin(suspectedNanos);
        if (suspected != null) {
            found.fact("token", suspected.token);
        }
        found.fact("age-millis", (now - suspectedNanos) / 1000000).fact("found-by", suspected != null ? "queue"
                : "probes").fact("asynchronous-answered", counted).fact("synchronous-answered", 0);
        // It runs when the barrier is gone. It is posted before that, so that it cannot be missed.
        if (sign == null) {
            postSign(now);
        }
        boolean removed = remove && suspected != null && environment.loop.removeBarrier(suspected.token);
        found.fact("removed", removed);
        if (removed) {
            found.end(environment.nanoTime()).report();
            removeSign();
        } else {
            found.report();
            reported = found;
            reportedBarrier = suspected;
        }
    }

    private void postSign(long now) {
        sign = new Probe(environment);
        signNanos = now;
        environment.loop.post(sign, false);
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
