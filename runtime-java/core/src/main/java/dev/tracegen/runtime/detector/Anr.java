package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.MessageRecord;
import dev.tracegen.runtime.PendingMessage;
import dev.tracegen.runtime.PendingQueue;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.RecorderThread;
import dev.tracegen.runtime.ThreadStack;
import java.util.List;
import java.util.TreeSet;

/**
 * The detector {@code anr}: reports {@code lag} when a message has run for 2 seconds, and {@code anr} when it has run
 * for the system's limit for its kind, or when the system says before that the process does not respond. Both say when
 * they ended, however long that took.
 *
 * <p>That a limit has passed is no ANR yet: an input event must wait, for instance. The fact {@code confirmed-by} says
 * what else was seen: {@code process-error-state}, the system's own statement, {@code waiting-message}, the first
 * message of the queue waits for more than 2 seconds in the foreground or 10 in the background, both, or {@code none}.
 *
 * <p>The question to the system may take long, so that a thread of its own asks it, at most one at a time. That thread
 * lives no longer than the question. Nothing else runs on it.
 */
public final class Anr extends Watcher implements QuitListener {
    private static final String STATED = "process-error-state";
    private static final String WAITS = "waiting-message";

    /** How often the system is asked while a message runs, and after a signal. */
    private static final long ASK_NANOS = 1000000000L;
    private static final long SIGNAL_ASK_NANOS = 500000000L;

    /** For how long the system is asked after a signal. */
    private static final long SIGNAL_NANOS = 20000000000L;

    // How long the first message of the queue must have waited.
    private static final long FOREGROUND_WAIT_NANOS = 2000000000L;
    private static final long BACKGROUND_WAIT_NANOS = 10000000000L;

    private final AnrEvidence evidence;
    private final long lagNanos;
    private final Asker asker;

    /** Null while the detector is off. Any thread reads it. */
    private volatile Environment active;

    // The message that is watched, by its begin; 0 for none.
    private long watched;
    private SystemLimit limit;
    private Incident.Builder lag;
    private Incident.Builder anr;
    private final TreeSet<String> confirmed = new TreeSet<String>();
    private long nextAsk;

    /** The last statement that was used. The system goes on making it while its dialog is shown. */
    private String used;
    private boolean asking;

    // A signal that is not confirmed yet, and until when the system is asked; null for none.
    private Incident.Builder signal;
    private final TreeSet<String> signalConfirmed = new TreeSet<String>();
    private long signalEnd;

    /** Runs questions. Tests run them at once. */
    interface Asker {
        void run(Runnable question);
    }

    Anr(RecorderOptions o, AnrEvidence evidence, Asker asker) {
        super("anr");
        this.evidence = evidence;
        this.lagNanos = o.number("anr.lag-millis") * MILLI;
        this.asker = asker;
    }

    /**
     * Returns the detector, which is off.
     *
     * @param o {@code anr.lag-millis}
     */
    public static Anr create(RecorderOptions o, AnrEvidence evidence) {
        return new Anr(o, evidence, new Asker() {
            @Override
            public void run(Runnable question) {
                new RecorderThread(question, "tracegen-anr").start();
            }
        });
    }

    /**
     * Reports that this process has got SIGQUIT, by which the system asks for the stacks of all threads. That is not
     * always because of an ANR of this process. Reports an incident {@code sigquit} of the detector {@code sigquit} at
     * once, and again when an ANR is confirmed within 20 seconds. May be called on any thread, and returns at once.
     * Does nothing while this detector is off.
     *
     * @param nanos when the signal came, in {@link dev.tracegen.runtime.Platform#nanoTime}
     * @return false if this detector is off
     */
    @Override
    public boolean quitSignal(final long nanos) {
        final Environment e = active;
        if (e == null) {
            return false;
        }
        e.at(e.nanoTime(), new Runnable() {
            @Override
            public void run() {
                signalCame(nanos);
            }
        });
        return true;
    }

    @Override
    void begin() {
        forget(0);
        signal = null;
        asking = false;
        active = environment();
    }

    @Override
    void end() {
        active = null;
        forget(0);
    }

    private void forget(long next) {
        watched = next;
        limit = null;
        lag = null;
        anr = null;
        confirmed.clear();
        nextAsk = 0;
    }

    @Override
    long look(long now) {
        long since = environment().loop.runningSince();
        if (since != watched) {
            ended(now);
            forget(since);
        }
        long from = Math.max(since, steadySince());
        if (since == 0 || now < from + lagNanos) {
            return Math.min(now + BEAT_NANOS, since == 0 ? Long.MAX_VALUE : from + lagNanos);
        }
        if (lag == null) {
            lag = found("lag", since);
            if (lag == null) {
                return now;
            }
            limit = SystemLimit.of(text(since));
            limitOf(lag).report();
        }
        if (anr == null && now >= from + limit.millis * MILLI) {
            anr = found("anr", since);
            if (anr != null) {
                confirm(anr, confirmed, waits(now)).report();
            }
        }
        boolean maySay = now >= from + Math.min(limit.millis, SystemLimit.INPUT.millis) * MILLI;
        if (maySay && now >= nextAsk && !confirmed.contains(STATED)) {
            nextAsk = now + ASK_NANOS;
            ask();
            if (anr != null && confirmed.isEmpty() && waits(now)) {
                confirm(anr, confirmed, true).report();
            }
        }
        long next = now + BEAT_NANOS;
        return anr == null ? Math.min(next, Math.max(now + 1, from + limit.millis * MILLI)) : next;
    }

    /** Begins an incident of the running message with its stack; null if the message has ended meanwhile. */
    private Incident.Builder found(String kind, long since) {
        LoopAccess loop = environment().loop;
        ThreadStack stack = ThreadStack.of(loop.thread(), environment().recorder.platform());
        MessageRecord m = loop.trace().messageAt(since);
        if (loop.runningSince() != since) {
            return null;
        }
        count();
        Incident.Builder b = environment().incident(kind).begin(since).message(m).stack(stack);
        return limit == null ? b : limitOf(b);
    }

    private Incident.Builder limitOf(Incident.Builder b) {
        b.fact("limit-millis", limit.millis).fact("limit-of", limit.word);
        return limit.backgroundMillis == 0 ? b : b.fact("background-limit-millis", limit.backgroundMillis);
    }

    private String text(long since) {
        MessageRecord m = environment().loop.trace().messageAt(since);
        return m == null ? null : m.description;
    }

    private static Incident.Builder confirm(Incident.Builder b, TreeSet<String> by, boolean waits) {
        if (waits) {
            by.add(WAITS);
        }
        StringBuilder all = new StringBuilder();
        for (String s : by) {
            all.append(all.length() == 0 ? "" : ",").append(s);
        }
        return b.fact("confirmed-by", all.length() == 0 ? "none" : all);
    }

    private void ended(long now) {
        MessageRecord m = watched == 0 || lag == null ? null : environment().loop.trace().messageAt(watched);
        for (Incident.Builder b : new Incident.Builder[] {lag, anr}) {
            if (b != null) {
                b.end(now).message(m).report();
            }
        }
    }

    /** Reports whether the first message of the queue has waited for long. */
    private boolean waits(long now) {
        PendingQueue queue = environment().loop.trace().pendingQueue();
        List<PendingMessage> first = queue == null ? null : queue.snapshot(1);
        if (first == null || first.isEmpty() || first.get(0).whenNanos <= 0) {
            // A message that was posted to the front of the queue has no time.
            return false;
        }
        long limit = environment().recorder.foreground() ? FOREGROUND_WAIT_NANOS : BACKGROUND_WAIT_NANOS;
        return now - first.get(0).whenNanos > limit;
    }

    /** Asks the system, unless a question waits for its answer. */
    private void ask() {
        if (asking) {
            return;
        }
        asking = true;
        final Environment e = environment();
        final long message = watched;
        asker.run(new Runnable() {
            @Override
            public void run() {
                String s = null;
                try {
                    s = evidence.state();
                } catch (Throwable failure) {
                    // Unknown.
                }
                final String state = s;
                e.at(e.nanoTime(), new Runnable() {
                    @Override
                    public void run() {
                        asking = false;
                        answered(state, message);
                    }
                });
            }
        });
    }

    private void answered(String state, long message) {
        if (state == null || state.equals(used)) {
            return;
        }
        boolean taken = false;
        if (message != 0 && message == watched && limit != null) {
            if (anr == null) {
                anr = found("anr", watched);
            }
            if (anr != null) {
                confirmed.add(STATED);
                confirm(anr, confirmed, waits(environment().nanoTime())).report();
                taken = true;
            }
        }
        if (signal != null) {
            signalConfirmed.add(STATED);
            confirm(signal, signalConfirmed, false).report();
            signal = null;
            taken = true;
        }
        used = taken ? state : used;
    }

    private void signalCame(long nanos) {
        if (signal != null) {
            // The system asks again for the same reason.
            return;
        }
        LoopAccess loop = environment().loop;
        signalConfirmed.clear();
        MessageRecord m = loop.trace().messageAt(loop.runningSince());
        // The name is that of the message, but not its times and records.
        signal = environment().recorder.incident("sigquit", "sigquit").thread(loop.trace()).message(m).records(0, 0)
                .begin(nanos).end(nanos).stack(ThreadStack.of(loop.thread(), environment().recorder.platform()));
        count();
        long now = environment().nanoTime();
        signalEnd = now + SIGNAL_NANOS;
        confirm(signal, signalConfirmed, waits(now)).report();
        askForSignal();
    }

    private void askForSignal() {
        long now = environment().nanoTime();
        if (signal == null) {
            return;
        }
        if (now > signalEnd) {
            signal = null;
            return;
        }
        if (!signalConfirmed.contains(WAITS) && waits(now)) {
            confirm(signal, signalConfirmed, true).report();
        }
        ask();
        environment().at(now + SIGNAL_ASK_NANOS, new Runnable() {
            @Override
            public void run() {
                askForSignal();
            }
        });
    }
}
