package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * The recorder's sampler: a thread that checks every few milliseconds what the app's threads do ({@link StallWatch}),
 * copies their records ({@link Drain}), and decides what is written and delivered. It waits for nothing: it hands over
 * to {@link Writer} and {@link Delivery}, and goes on. It sleeps while no message runs.
 */
final class Sampler implements Runnable {
    /** How many frames may wait for this thread. */
    private static final int MAX_FRAMES = 4096;

    /** How many incidents may wait for this thread. */
    private static final int MAX_INCIDENTS = 64;

    /** How long the thread checks on after the last work, and how long it pauses after a failure. */
    private static final long IDLE_NANOS = 1000000000L;
    private static final long FAILURE_NANOS = 100000000L;

    /** The least part of a pause between two checks. */
    private static final long LEAST_PAUSE_NANOS = 500000L;

    /** How long the end of a recording waits for a disk that does not answer, and how often it looks. */
    private static final long PATIENCE_NANOS = 20000000000L;
    private static final long ROOM_NANOS = 1000000L;

    private final Recorder recorder;
    private final Ticker ticker;
    private final RecorderOptions options;
    private final Platform platform;
    private final ArrayBlockingQueue<FrameTiming> frames = new ArrayBlockingQueue<FrameTiming>(MAX_FRAMES);
    private final ArrayBlockingQueue<Incident> incidents = new ArrayBlockingQueue<Incident>(MAX_INCIDENTS);
    private final Dropped dropped;
    private final Suspensions suspensions;
    private final Thread thread = new RecorderThread(this, "tracegen-sampler");
    private final Gate gate;
    private final Writer writer;
    private final WriterQueue out;
    private final Delivery delivery;
    private final SignsOfLife signs;
    private final SteadySamples steady;
    private final StallWatch stalls;
    private final Drain drain;

    /** Whether the end of the recording has waited for the writer in vain. */
    private boolean stuck;
    private volatile boolean asleep;

    // When another thread has woken this one from its sleep, and the CPU time of the process then. 0 if none has.
    private volatile long wokenNanos;
    private volatile long wokenCpu;
    private volatile boolean stopped;

    /** Whether the pause between two checks is to end now. */
    private volatile boolean woken;
    private long busyUntil;

    /** How many records the last check has copied. */
    private long copied;

    /** How long this thread wanted to pause before the current check. */
    private long pauseNanos;

    // When that pause began, 0 if there was none, and how much longer than wanted it was.
    private long pauseBegin;
    private long lateNanos;
    private long leftOutNanos;

    Sampler(Recorder recorder, Ticker ticker, Writer writer, Delivery delivery) {
        this.recorder = recorder;
        this.ticker = ticker;
        this.writer = writer;
        this.out = writer.queue;
        this.delivery = delivery;
        this.options = recorder.options();
        this.platform = options.platform;
        this.dropped = recorder.dropped();
        this.suspensions = new Suspensions(platform);
        this.gate = new Gate(recorder, options);
        this.signs = new SignsOfLife(options, out);
        this.steady = new SteadySamples(recorder, out);
        this.stalls = new StallWatch(recorder, ticker, out, delivery, suspensions, signs, steady);
        this.drain = new Drain(recorder, ticker, writer, gate, stalls, steady);
    }

    void start() {
        thread.start();
    }

    /** Ends the thread when it has handed over all that was recorded so far. Returns at once. */
    void stop() {
        stopped = true;
        unpark();
    }

    /** Waits until the thread has ended, or for so long. */
    void join(long millis) throws InterruptedException {
        thread.join(Math.max(1, millis));
    }

    /** Wakes the thread from a pause between two checks. */
    void unpark() {
        woken = true;
        LockSupport.unpark(thread);
    }

    /** Wakes the thread if it sleeps; otherwise it only reads a field. */
    void wake() {
        if (asleep) {
            // Collections during the sleep do not belong to this message.
            stalls.readGcCounters();
            unparkAsleep();
        }
    }

    /** Ends the sleep. The process runs at this moment: if this thread comes late, it may have been stopped since. */
    private void unparkAsleep() {
        if (asleep) {
            wokenCpu = platform.processCpuNanos();
            wokenNanos = platform.nanoTime();
            asleep = false;
        }
        unpark();
    }

    void stallEnded(ThreadTrace trace, MessageRecord message, List<MessageRecord> before) {
        stalls.ended(new EndedStall(trace, message, before));
        unparkAsleep();
    }

    void incident(Incident incident) {
        if (!incidents.offer(incident)) {
            dropped.add(Dropped.INCIDENTS, 1);
        }
        unparkAsleep();
    }

    void frame(FrameTiming timing) {
        if (!frames.offer(timing)) {
            dropped.add(Dropped.FRAMES, 1);
        }
        wake();
    }

    @Override
    public void run() {
        boolean begun = false;
        while (!stopped) {
            try {
                Thread.interrupted();
                if (!begun) {
                    stalls.readGcCounters();
                    ComposeTracer.install();
                    begun = true;
                }
                runOnce();
            } catch (Throwable e) {
                recorder.failures.failed(e);
                pauseNanos = e instanceof OutOfMemoryError ? IDLE_NANOS : FAILURE_NANOS;
                LockSupport.parkNanos(this, pauseNanos);
            }
        }
        try {
            finish();
        } catch (Throwable e) {
            recorder.failures.failed(e);
        } finally {
            writer.finish();
            delivery.finish();
        }
    }

    /** Checks all threads once, and sleeps until the next check. */
    private void runOnce() {
        lateNanos = pauseBegin == 0 ? 0 : platform.nanoTime() - pauseBegin - pauseNanos;
        pauseBegin = 0;
        suspensions.afterPause(pauseNanos);
        pauseNanos = 0;
        // Before the check: what comes behind it is checked at once.
        woken = false;
        long work = checkAll();
        long now = platform.nanoTime();
        if (work > 0) {
            busyUntil = now + IDLE_NANOS;
        }
        if (now < busyUntil || options.everyRecord) {
            pauseNanos = pollNanos(options, copied);
            pauseBegin = now;
            pause();
            return;
        }
        wokenNanos = 0;
        asleep = true;
        // A message that has just begun may not have seen the field asleep.
        if (!anyMessageRuns() && stalls.isEmpty() && incidents.isEmpty() && !drain.isBehind()
                && !stopped) {
            LockSupport.park(this);
        }
        asleep = false;
        steady.woke();
        // Nothing ran during the sleep, so whether the process was stopped meanwhile makes no difference.
        long woken = wokenNanos;
        suspensions.mark(woken == 0 ? platform.nanoTime() : woken, woken == 0 ? platform.processCpuNanos() : wokenCpu);
    }

    /** Pauses between two checks, and takes steady samples meanwhile. */
    private void pause() {
        for (long rest = pauseNanos; rest > 0 && !woken;) {
            long part = Math.min(rest, Math.max(LEAST_PAUSE_NANOS, steady.take()));
            LockSupport.parkNanos(this, part);
            rest -= part;
        }
    }

    /** Returns how long the thread pauses between two checks if the last one has copied so many records. */
    static long pollNanos(RecorderOptions options, long copied) {
        if (options.everyRecord) {
            return copied > 1000 ? 1000000L : 20000000L;
        }
        return Math.max(10, Math.min(100, options.leastSlowMillis() / 8)) * 1000000L;
    }

    private boolean anyMessageRuns() {
        for (ThreadTrace t : recorder.threads.all()) {
            if (t.runningSince() != 0) {
                return true;
            }
        }
        return false;
    }

    /** Checks all threads once. Returns how many records and stalls it handled and how many threads run a message. */
    private long checkAll() {
        long wallMillis = platform.wallMillis();
        signs.check(recorder.lastNanos(), wallMillis);
        stalls.writeSuspensions();
        recorder.rings().checking();
        long work = stalls.reportAll();
        for (ThreadTrace t : recorder.threads.all()) {
            // Before the records are copied: behind its last record a thread puts none.
            t.sampled.ended = t.thread.getState() == Thread.State.TERMINATED && !t.main;
        }
        copied = drain.all(stopped);
        work += copied;
        steady.handOverOld();
        for (ThreadTrace t : recorder.threads.all()) {
            work += stalls.watch(t, lateNanos);
            // Not before it is known that all was handed over.
            if (t.sampled.ended && t.sampled.drained) {
                gate.collect(t);
                recorder.threads.forget(t);
            }
        }
        gate.decide(platform.nanoTime());
        gate.letGo(platform.nanoTime());
        if (out.hasRoom()) {
            writeLetGo();
        }
        if (out.hasRoom() && platform.nanoTime() - leftOutNanos >= IDLE_NANOS) {
            leftOutNanos = platform.nanoTime();
            writeLeftOut();
        }
        signs.write();
        work += stalls.reportAll();
        stalls.readGcCounters();
        return work + writeFrames() + reportIncidents();
    }

    /** Hands over incidents behind their records. */
    private int reportIncidents() {
        int n = 0;
        for (Incident i = incidents.poll(); i != null; i = incidents.poll()) {
            if (i.trace != null && i.endRecord > i.firstRecord) {
                copyRecords(i);
            }
            out.incident(i);
            delivery.incident(i);
            n++;
        }
        return n;
    }

    /**
     * Sees to it that the records of an incident are handed over before it. A reader takes the records of a thread in
     * the order of their numbers. So a stall that ended before comes first, and the records of a message that is still
     * running are copied from its begin on, for it may become a stall. If every record is written, an incident that is
     * found before the writer has begun is written before its records: it does not wait, because the disk may be slow.
     */
    private void copyRecords(Incident i) {
        ThreadTrace t = i.trace;
        if (options.everyRecord) {
            if (writer.opened() && t.sampled.nextToDrain < i.endRecord) {
                drain.of(t, stopped);
            }
            return;
        }
        stalls.reportAll();
        if (t.sampled.facts != null) {
            steady.handOver(t.sampled.facts.steady);
        }
        long first = i.firstRecord;
        if (t.runningSince() != 0 && t.firstRecord() < i.endRecord) {
            first = Math.min(first, t.firstRecord());
        }
        i.records = t.copyWithMarks(first, i.endRecord);
    }

    private void writeLeftOut() {
        Gate.LeftOut calls = gate.takeLeftOut(platform.nanoTime());
        if (calls != null) {
            out.leftOut(calls);
        }
    }

    private void writeLetGo() {
        LetGo.Change change = gate.takeLetGo(platform.nanoTime());
        if (change != null) {
            out.letGo(change);
        }
    }

    private int writeFrames() {
        if (frames.isEmpty()) {
            return 0;
        }
        List<FrameTiming> batch = new ArrayList<FrameTiming>();
        frames.drainTo(batch);
        out.frames(batch);
        return batch.size();
    }

    /** Hands over what is left. No thread records any more, so from here on this thread may wait for room. */
    private void finish() {
        // Twice, because the first check may find new stalls. Again as long as there was no room for all records.
        boolean opened = false;
        for (int k = 0; k < 2 || (drain.isBehind() || !opened) && awaitRoom(); k++) {
            // Before the check, which copies nothing until the writer has opened: it may open behind the check.
            opened = writer.opened();
            try {
                checkAll();
            } catch (Throwable e) {
                recorder.failures.failed(e);
            }
        }
        suspensions.finish();
        stalls.writeSuspensions();
        for (ThreadTrace t : recorder.threads.all()) {
            gate.collect(t);
            recorder.threads.countDropped(t);
        }
        if (!awaitRoom()) {
            return;
        }
        steady.handOver();
        writeLeftOut();
        writeLetGo();
        signs.last(recorder.threads.all());
        for (ThreadTrace t : recorder.threads.all()) {
            List<MessageRecord> all = t.history();
            signs.addOpen(t, all);
            if (!all.isEmpty() && awaitRoom()) {
                out.messages(t, all);
            }
        }
        long clock = ticker.cpuNanos();
        long own = platform.threadCpuNanos();
        out.cost(clock < 0 || own < 0 ? -1 : clock + own);
    }

    /** Waits until the writer has room. Returns false if it makes no progress, because the disk does not answer. */
    private boolean awaitRoom() {
        long before = out.progress();
        long since = System.nanoTime();
        while (!writer.opened() || !out.hasRoom()) {
            if (out.progress() != before) {
                before = out.progress();
                since = System.nanoTime();
            } else if (stuck || System.nanoTime() - since > PATIENCE_NANOS) {
                stuck = true;
                return false;
            }
            Thread.interrupted();
            LockSupport.parkNanos(this, ROOM_NANOS);
        }
        return true;
    }
}
