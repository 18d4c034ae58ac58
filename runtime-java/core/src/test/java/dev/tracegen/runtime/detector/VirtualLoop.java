package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.ThreadTrace;
import java.util.ArrayList;
import java.util.List;

/**
 * A Looper on the clock of a {@link VirtualSchedule}: a queue of synchronous and asynchronous messages, each of which
 * takes some time, and sync barriers. Its thread is that of the test.
 */
public final class VirtualLoop extends LoopAccess {
    private final VirtualSchedule schedule;
    private final ThreadTrace trace;
    private final Thread thread;

    /** What waits, in the order in which it is due. */
    private final List<Entry> queue = new ArrayList<Entry>();
    private long runningSince;
    private int nextToken = 1;
    private int posts;

    /** Whether this Looper has asynchronous messages. */
    boolean hasAsynchronous = true;

    /** Whether the Looper has ended. */
    boolean ended;

    /** Whether the clock fails in what {@link #post} has posted. */
    boolean brokenInPosted;

    /** Whether messages are reported to the trace, as the Looper's printer does. */
    boolean traced;

    private static final class Entry {
        final long when;
        final Runnable work;
        final long duration;
        final boolean asynchronous;

        /** 0 if it is no barrier. */
        final int token;

        /** The text of the message. */
        final String text;

        /** Whether a detector has posted it. */
        boolean posted;

        Entry(long when, Runnable work, long duration, boolean asynchronous, int token, String text) {
            this.when = when;
            this.work = work;
            this.duration = duration;
            this.asynchronous = asynchronous;
            this.token = token;
            this.text = text;
        }
    }

    /**
     * Creates a Looper that is idle.
     *
     * @param recorder has the platform of the schedule
     */
    public VirtualLoop(VirtualSchedule schedule, Recorder recorder) {
        this.schedule = schedule;
        this.thread = Thread.currentThread();
        this.trace = recorder.thread(thread);
    }

    /** Posts a message that is due after a delay and takes some time. */
    public void message(long delay, long duration) {
        message(delay, duration, "Handler (app.Handler) null: 0", null);
    }

    /** As above, with the Looper's text and with work that runs when it begins, null for none. */
    public void message(long delay, long duration, String text, Runnable work) {
        enqueue(new Entry(schedule.nanoTime() + delay, work, duration, false, 0, text));
    }

    /** Keeps the Looper busy from now on, or as soon as it is idle. */
    public void busy(long duration) {
        message(0, duration);
    }

    /** Posts a message that a barrier does not hold up, as that of a frame, and that takes some time. */
    public void asynchronous(long duration) {
        enqueue(new Entry(schedule.nanoTime(), null, duration, true, 0, "Handler (app.Handler) null: 0"));
    }

    /** Posts a sync barrier and returns its token. */
    public int postBarrier() {
        int token = nextToken++;
        enqueue(new Entry(schedule.nanoTime(), null, 0, false, token, ""));
        return token;
    }

    /** Returns how often {@link #post} was called. */
    public int posts() {
        return posts;
    }

    /** Returns how much waits, barriers included. */
    public int waiting() {
        return queue.size();
    }

    /** Returns when the first entry of the queue was due, Long.MAX_VALUE if there is none. */
    public long headDue() {
        return queue.isEmpty() ? Long.MAX_VALUE : queue.get(0).when;
    }

    private void enqueue(Entry e) {
        int at = queue.size();
        while (at > 0 && queue.get(at - 1).when > e.when) {
            at--;
        }
        queue.add(at, e);
        schedule.machine(e.when, this::pump);
    }

    /** Begins messages until one takes time, or none is due. */
    private void pump() {
        while (runningSince == 0) {
            Entry e = nextDue();
            if (e == null) {
                return;
            }
            queue.remove(e);
            runningSince = schedule.nanoTime();
            if (traced) {
                trace.messageBegin(">>>>> Dispatching to " + e.text);
            }
            if (e.work != null) {
                schedule.broken = e.posted && brokenInPosted;
                try {
                    e.work.run();
                } finally {
                    schedule.broken = false;
                }
            }
            if (e.duration > 0) {
                schedule.progress(e.duration, () -> {
                    end();
                    pump();
                });
            } else {
                end();
            }
        }
    }

    private void end() {
        if (traced) {
            trace.messageEnd();
        }
        runningSince = 0;
    }

    private Entry nextDue() {
        boolean held = false;
        for (Entry e : queue) {
            if (e.when > schedule.nanoTime()) {
                return null;
            }
            held |= e.token != 0;
            if (e.token == 0 && (!held || e.asynchronous)) {
                return e;
            }
        }
        return null;
    }

    @Override
    public ThreadTrace trace() {
        return trace;
    }

    @Override
    public Thread thread() {
        return thread;
    }

    @Override
    public boolean post(Runnable work, boolean asynchronous) {
        posts++;
        if (ended || asynchronous && !hasAsynchronous) {
            return false;
        }
        Entry e = new Entry(schedule.nanoTime(), work, 0, asynchronous, 0, "Handler (dev.tracegen.Handler) null: 0");
        e.posted = true;
        enqueue(e);
        return true;
    }

    @Override
    public void remove(Runnable work) {
        for (int k = queue.size() - 1; k >= 0; k--) {
            if (queue.get(k).work == work) {
                queue.remove(k);
            }
        }
    }

    /** Returns the token of the barrier at the head of the queue, 0 if there is none. */
    int barrier() {
        return queue.isEmpty() ? 0 : queue.get(0).token;
    }

    boolean removeBarrier(int token) {
        for (Entry e : queue) {
            if (e.token == token) {
                queue.remove(e);
                schedule.machine(schedule.nanoTime(), this::pump);
                return true;
            }
        }
        return false;
    }

    @Override
    public long runningSince() {
        return runningSince;
    }
}
