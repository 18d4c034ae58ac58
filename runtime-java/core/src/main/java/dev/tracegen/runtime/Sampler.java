package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * The recorder's sampler. It measures how long the running messages take, samples the stacks of those that take long,
 * copies records from the rings, and decides what is written and delivered. It waits for nothing: it hands over to
 * {@link Writer} and {@link Delivery}, and goes on. It sleeps while no message runs.
 *
 * <p>While the writer has no room, records stay in their rings. What the rings then do is said in {@link Ring}.
 */
final class Sampler implements Runnable {
    /** How many stalls of messages may wait for this thread. More are dropped and counted. */
    private static final int MAX_STALLS = 16;

    /** How many frames may wait for this thread. */
    private static final int MAX_FRAMES = 4096;

    /** How many incidents may wait for this thread. */
    private static final int MAX_INCIDENTS = 64;

    /** How many waiting messages of a stall are written. */
    private static final int MAX_PENDING = 200;

    /** How long the thread checks on after the last work, and how long it pauses after a failure. */
    private static final long IDLE_NANOS = 1000000000L;
    private static final long FAILURE_NANOS = 100000000L;

    // How often a sign of life is written for an open call: after a share of the time that it has taken, within these
    // bounds. If the process is killed, the end of the call is known to 5 % or 100 ms. The rest up to that is for the
    // checks, which may come late.
    private static final int SIGN_SHARE = 25;
    private static final long MIN_SIGN_NANOS = 80000000L;
    private static final long MAX_SIGN_NANOS = 5000000000L;

    /** How long the end of a recording waits for a disk that does not answer, and how often it looks. */
    private static final long PATIENCE_NANOS = 20000000000L;
    private static final long ROOM_NANOS = 1000000L;

    /** How many threads are sampled of which each holds the lock that the one before waits for. */
    private static final int MAX_OWNERS = 8;

    private final Recorder recorder;
    private final Ticker ticker;
    private final RecorderOptions options;
    private final Platform platform;
    private final ArrayBlockingQueue<EndedStall> stalls = new ArrayBlockingQueue<EndedStall>(MAX_STALLS);
    private final ArrayBlockingQueue<FrameTiming> frames = new ArrayBlockingQueue<FrameTiming>(MAX_FRAMES);
    private final ArrayBlockingQueue<Incident> incidents = new ArrayBlockingQueue<Incident>(MAX_INCIDENTS);
    private final ArrayBlockingQueue<DroppedFrames> droppedFrames =
            new ArrayBlockingQueue<DroppedFrames>(MAX_INCIDENTS);
    private List<OpenCall> alive = new ArrayList<OpenCall>();
    private final Dropped dropped;
    private final Suspensions suspensions;
    private final Thread thread = new RecorderThread(this, "tracegen-sampler");
    private final Gate gate;
    private final Writer writer;
    private final Delivery delivery;

    /** The thread whose records found no room at the last check, null if there was room for all. */
    private ThreadTrace drainNext;

    /** Whether there was no room for something of the thread whose records are handed over. */
    private boolean refused;

    /** Whether the end of the recording has waited for the writer in vain. */
    private boolean stuck;
    private volatile boolean asleep;

    // When another thread has woken this one from its sleep, and the CPU time of the process then. 0 if none has.
    private volatile long wokenNanos;
    private volatile long wokenCpu;
    private volatile boolean stopped;
    private long busyUntil;

    /** How long this thread wanted to pause before the current check. */
    private long pauseNanos;

    // When that pause began, 0 if there was none, and how much longer than wanted it was.
    private long pauseBegin;
    private long lateNanos;
    private long leftOutNanos;

    // When the current check began. A call whose exit the check does not find was open then.
    private long checkNanos;
    private long checkWallMillis;
    private volatile long gcCount;
    private volatile long gcMillis;

    Sampler(Recorder recorder, Ticker ticker, Writer writer, Delivery delivery) {
        this.recorder = recorder;
        this.ticker = ticker;
        this.writer = writer;
        this.delivery = delivery;
        this.options = recorder.options();
        this.platform = options.platform;
        this.dropped = recorder.dropped();
        this.suspensions = new Suspensions(platform);
        this.gate = new Gate(recorder, options);
    }

    void start() {
        thread.start();
    }

    /** Ends the thread when it has handed over all that was recorded so far. Returns at once. */
    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }

    /** Waits until the thread has ended, or for so long. */
    void join(long millis) throws InterruptedException {
        thread.join(Math.max(1, millis));
    }

    /** Wakes the thread from a pause between two checks. */
    void unpark() {
        LockSupport.unpark(thread);
    }

    /** Wakes the thread if it sleeps; otherwise it only reads a field. */
    void wake() {
        if (asleep) {
            // Collections during the sleep do not belong to this message.
            readGcCounters();
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
        LockSupport.unpark(thread);
    }

    void stallEnded(ThreadTrace trace, MessageRecord message, List<MessageRecord> before) {
        if (!stalls.offer(new EndedStall(trace, message, before))) {
            dropped.add(Dropped.STALLS, 1);
        }
        unparkAsleep();
    }

    void incident(Incident incident) {
        if (!incidents.offer(incident)) {
            dropped.add(Dropped.INCIDENTS, 1);
        }
        unparkAsleep();
    }

    void droppedFrames(DroppedFrames frames) {
        if (!droppedFrames.offer(frames)) {
            dropped.add(Dropped.DELIVERIES, 1);
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
                    readGcCounters();
                    begun = true;
                }
                runOnce();
            } catch (Throwable e) {
                recorder.failed(e);
                pauseNanos = e instanceof OutOfMemoryError ? IDLE_NANOS : FAILURE_NANOS;
                LockSupport.parkNanos(this, pauseNanos);
            }
        }
        try {
            finish();
        } catch (Throwable e) {
            recorder.failed(e);
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
        long work = checkAll();
        long now = platform.nanoTime();
        if (work > 0) {
            busyUntil = now + IDLE_NANOS;
        }
        if (now < busyUntil || options.everyRecord) {
            pauseNanos = pollNanos(work);
            pauseBegin = now;
            LockSupport.parkNanos(this, pauseNanos);
            return;
        }
        wokenNanos = 0;
        asleep = true;
        // A message that has just begun may not have seen the field asleep.
        if (!anyMessageRuns() && stalls.isEmpty() && incidents.isEmpty() && droppedFrames.isEmpty()
                && drainNext == null && !stopped) {
            LockSupport.park(this);
        }
        asleep = false;
        // Nothing ran during the sleep, so whether the process was stopped meanwhile makes no difference.
        long woken = wokenNanos;
        suspensions.mark(woken == 0 ? platform.nanoTime() : woken, woken == 0 ? platform.processCpuNanos() : wokenCpu);
    }

    private long pollNanos(long work) {
        if (options.everyRecord) {
            return work > 1000 ? 1000000L : 20000000L;
        }
        return Math.max(10, Math.min(100, options.leastSlowMillis() / 8)) * 1000000L;
    }

    private boolean anyMessageRuns() {
        for (ThreadTrace t : recorder.traces()) {
            if (t.runningSince() != 0) {
                return true;
            }
        }
        return false;
    }

    /** Checks all threads once. Returns how many records and stalls it handled and how many threads run a message. */
    private long checkAll() {
        checkWallMillis = platform.wallMillis();
        checkNanos = recorder.lastNanos();
        writeSuspensions();
        recorder.rings().checking();
        long work = reportStalls();
        for (ThreadTrace t : recorder.traces()) {
            // Before the records are copied: behind its last record a thread puts none.
            t.ended = t.thread.getState() == Thread.State.TERMINATED && !t.main;
        }
        work += drainAll();
        for (ThreadTrace t : recorder.traces()) {
            work += watch(t, openSince(t), openNumber(t));
            // Not before it is known that all was handed over.
            if (t.ended && t.drained) {
                gate.collect(t);
                recorder.forget(t);
            }
        }
        gate.decide(platform.nanoTime());
        if (writer.hasRoom() && platform.nanoTime() - leftOutNanos >= IDLE_NANOS) {
            leftOutNanos = platform.nanoTime();
            writeLeftOut();
        }
        writeAlive();
        work += reportStalls();
        readGcCounters();
        return work + writeFrames() + reportIncidents();
    }

    /** Hands over incidents behind their records. */
    private int reportIncidents() {
        int n = 0;
        for (Incident i = incidents.poll(); i != null; i = incidents.poll()) {
            if (i.trace != null && i.endRecord > i.firstRecord) {
                copyRecords(i);
            }
            writer.incident(i);
            delivery.incident(i);
            n++;
        }
        for (DroppedFrames d = droppedFrames.poll(); d != null; d = droppedFrames.poll()) {
            delivery.droppedFrames(d);
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
            if (writer.opened() && t.nextToDrain < i.endRecord) {
                drain(t);
            }
            return;
        }
        reportStalls();
        long first = i.firstRecord;
        if (t.runningSince() != 0 && t.firstRecord() < i.endRecord) {
            first = Math.min(first, t.firstRecord());
        }
        i.records = t.copy(first, i.endRecord);
    }

    /** Hands over the times in which the process did not run, before records and stalls from behind them. */
    private void writeSuspensions() {
        suspensions.look();
        if (!suspensions.found().isEmpty() && writer.suspended(suspensions.found())) {
            suspensions.written();
        }
    }

    private void writeLeftOut() {
        Gate.LeftOut calls = gate.takeLeftOut(platform.nanoTime());
        if (calls != null) {
            writer.leftOut(calls);
        }
    }

    /**
     * Hands over the new records of all threads, or the changes of their gates if records are written only of stalls.
     * If there is no room for all, the next call begins with the thread that came too late.
     *
     * @return how many records there were
     */
    private long drainAll() {
        if (!writer.opened()) {
            return 0;
        }
        ThreadTrace begin = drainNext;
        drainNext = null;
        long n = 0;
        boolean reached = begin == null;
        for (ThreadTrace t : recorder.traces()) {
            reached |= t == begin;
            n += reached ? drain(t) : 0;
        }
        for (ThreadTrace t : recorder.traces()) {
            if (t == begin || begin == null) {
                break;
            }
            n += drain(t);
        }
        return n;
    }

    /** Reports whether there is room to hand over more of a thread. If not, it is the first one at the next check. */
    private boolean hasRoom(ThreadTrace t) {
        if (writer.hasRoom()) {
            return true;
        }
        drainNext = drainNext == null ? t : drainNext;
        refused = true;
        return false;
    }

    private void readGcCounters() {
        gcCount = platform.gcCount();
        gcMillis = platform.gcMillis();
    }

    /** Reports whether messages of the thread are reported. Then its outermost calls do not count as messages. */
    private static boolean hasMessages(ThreadTrace t) {
        return t.messageNumber() > 0 || t.runningSince() != 0;
    }

    /** Returns when the open message or outermost call of a thread began; 0 if none is open. */
    private static long openSince(ThreadTrace t) {
        return hasMessages(t) || t.outermost == null ? t.runningSince() : t.outermost.since();
    }

    /** Returns the number of the open message or outermost call of a thread, or of the next one. */
    private static int openKind(ThreadTrace t) {
        return hasMessages(t) || t.outermost == null ? t.runningKind() : MessageRecord.NORMAL;
    }

    private static long openNumber(ThreadTrace t) {
        return hasMessages(t) || t.outermost == null ? t.messageNumber() : t.outermost.number();
    }

    private int reportStalls() {
        int n = 0;
        for (EndedStall s = stalls.poll(); s != null; s = stalls.poll()) {
            reportStall(s);
            n++;
        }
        return n;
    }

    private int writeFrames() {
        if (frames.isEmpty()) {
            return 0;
        }
        List<FrameTiming> batch = new ArrayList<FrameTiming>();
        frames.drainTo(batch);
        writer.frames(batch);
        return batch.size();
    }

    /**
     * Hands over the new records of a thread and those of its window, as far as there is room.
     *
     * @return how many records there were
     */
    private long drain(ThreadTrace t) {
        t.drained = false;
        refused = false;
        Ring ring = t.existingRing();
        long n = 0;
        if (ring != null && options.everyRecord) {
            n = copyAll(t, ring);
        } else if (ring != null) {
            writeGate(t, ring.lastChange);
        }
        t.drained = !refused;
        return n;
    }

    private long copyAll(ThreadTrace t, Ring ring) {
        long n = copyRecords(t, ring);
        // Once more for the records of the window. While the thread runs, it may open another one at once.
        for (int k = 0; (k < 1 || t.ended || stopped) && hasRoom(t); k++) {
            Window.Closed window = ring.closeWindow();
            if (window == null) {
                break;
            }
            writer.window(t, window);
            n += 1 + copyRecords(t, ring);
            gate.count(t, window, ticker.tickNanos());
        }
        return n;
    }

    private long copyRecords(ThreadTrace t, Ring ring) {
        long n = 0;
        // The ring may have replaced the one that was copied before.
        ring.copied(t.nextToDrain);
        long end = ring.sequence();
        // Behind the line above: every change before a record that is copied now is seen.
        if (!writeGate(t, ring.lastChange)) {
            return 0;
        }
        boolean outermost = options.outermostCalls && !hasMessages(t);
        if (outermost && (t.nextToDrain < end || t.outermost != null && t.outermost.since() != 0)) {
            if (t.outermost == null) {
                t.outermost = new OutermostCalls(writer.messages());
            }
            t.outermost.sampleCpu(platform.nanoTime(), platform.threadCpuNanos(t.thread));
        }
        while (t.nextToDrain < end && hasRoom(t)) {
            long first = Math.max(t.nextToDrain, ring.oldest());
            RecordCopy copy = ring.copy(t.nextToDrain, Math.min(end, first + chunkRecords()));
            writer.records(t, copy);
            // Behind the line above, which fails if there is no memory: then the same records are copied again.
            t.nextToDrain = copy.firstSequence + copy.records.length;
            n += copy.records.length + copy.overwritten;
            ring.copied(t.nextToDrain);
            gate.count(t, copy, ticker.tickNanos());
            if (outermost) {
                addOutermostCalls(t, copy);
            }
        }
        return n;
    }

    /** Returns how many records are copied at once: at most a quarter of what may wait for the writer. */
    private long chunkRecords() {
        return Math.min(RecordingWriter.CHUNK_RECORDS, recorder.queueBytes() / 32);
    }

    /**
     * Hands over the changes of a thread's gate since the last call of this, the oldest first.
     *
     * @return false if there is no room for all, so that records behind them must wait
     */
    private boolean writeGate(ThreadTrace t, Gate.Change last) {
        if (last == null || last == t.writtenChange) {
            return true;
        }
        ArrayList<Gate.Change> changes = new ArrayList<Gate.Change>();
        for (Gate.Change c = last; c != null && c != t.writtenChange; c = c.before) {
            changes.add(c);
        }
        for (int k = changes.size() - 1; k >= 0; k--) {
            if (!hasRoom(t)) {
                return false;
            }
            Gate.Change c = changes.get(k);
            writer.gate(t, c);
            t.writtenChange = c;
            c.before = null;
        }
        return true;
    }

    private void addOutermostCalls(ThreadTrace t, RecordCopy copy) {
        if (copy.overwritten > 0) {
            t.outermost.reset();
        }
        for (int k = 0; k < copy.records.length; k++) {
            long r = copy.records[k];
            long nanos = ticker.baseNanos() + (r & Ring.TIME_MASK) * ticker.tickNanos();
            MessageRecord m = t.outermost.add(r, copy.firstSequence + k, nanos);
            if (m == null) {
                continue;
            }
            if (m.wallNanos >= options.slowNanos(m.kind)) {
                reportStall(new EndedStall(t, m, t.messageHistory().snapshot()));
            }
            t.messageHistory().add(m);
        }
    }

    /**
     * Checks the message that runs on a thread. It takes stack samples from half of the slow threshold on, at growing
     * intervals. The intervals begin anew when the thread puts no record for as long as the threshold: an outermost
     * call may last as long as the program and hang at its end. Facts about a stall are written as soon as the
     * threshold is passed, because the message may never end.
     */
    private int watch(ThreadTrace t, long since, long number) {
        if (since == 0) {
            return 0;
        }
        suspensions.look();
        if (suspensions.debugged()) {
            return 1;
        }
        StallFacts f = t.factsOf(number);
        if (f == null) {
            f = new StallFacts(number, gcCount, gcMillis);
            f.thresholdNanos = options.slowNanos(openKind(t));
            if (hasMessages(t) && (t.messageNumber() != number || t.runningSince() != since)) {
                // It has ended meanwhile, and the kind may be that of the next one.
                return 1;
            }
            f.nextSample = f.thresholdNanos / 2;
            t.setFacts(f);
        }
        long threshold = f.thresholdNanos;
        long now = platform.nanoTime();
        long elapsed = now - since - suspensions.within(since, now);
        f.lateNanos = Math.max(f.lateNanos, lateNanos);
        Ring ring = t.existingRing();
        long next = ring == null ? 0 : ring.sequence();
        boolean calls = next != f.nextRecord;
        if (next != f.nextRecord) {
            f.nextRecord = next;
            f.quietSince = now;
            f.nextQuietSample = threshold;
        }
        long quiet = now - f.quietSince - suspensions.within(f.quietSince, now);
        if (elapsed >= f.nextSample || quiet >= f.nextQuietSample) {
            if (elapsed >= f.nextSample) {
                f.nextSample = elapsed < threshold ? Math.min(threshold, elapsed + threshold / 4)
                        : elapsed + elapsed / 4;
            }
            if (quiet >= f.nextQuietSample) {
                f.nextQuietSample = quiet + quiet / 4;
            }
            sample(t, f, elapsed >= threshold);
        }
        long age = quiet >= threshold ? quiet : elapsed;
        long interval = Math.max(MIN_SIGN_NANOS, Math.min(MAX_SIGN_NANOS, age / SIGN_SHARE));
        // The last records before a hang in one method must not wait until the next sign is due: the process may be
        // killed before that.
        boolean stuck = !options.everyRecord && !calls && next > f.signedRecord;
        interval = stuck ? MIN_SIGN_NANOS : interval;
        // At the next check it would be too late.
        if (f.passed && (f.lastSign == 0 || checkNanos - f.lastSign >= interval - pollNanos(0))) {
            f.lastSign = checkNanos;
            f.signedRecord = next;
            writeOpenRecords(t, f, since);
            addAlive(t, number, since);
        }
        return 1;
    }

    private void addAlive(ThreadTrace t, long number, long since) {
        String text = hasMessages(t) || t.outermost == null ? t.runningText() : t.outermost.text();
        alive.add(new OpenCall(t, number, openKind(t), text, since, t.thread.getState(),
                platform.threadCpuNanos(t.thread)));
    }

    private void writeAlive() {
        if (!alive.isEmpty()) {
            List<OpenCall> open = alive;
            alive = new ArrayList<OpenCall>();
            writer.alive(checkNanos, checkWallMillis, open);
        }
    }

    /** Hands over the new records of a message that is still running, if records are written only of stalls. */
    private void writeOpenRecords(ThreadTrace t, StallFacts f, long since) {
        if (options.everyRecord || !writer.writes() || t.existingRing() == null) {
            return;
        }
        long first = t.firstRecord();
        RecordCopy copy = t.copy(Math.max(first, f.handedOver), Long.MAX_VALUE);
        if (t.messageNumber() != f.number || t.runningSince() != since) {
            // It has ended meanwhile, and the copy may have records of the next message.
            return;
        }
        // Also without new records: if a file was begun meanwhile, it needs those from before.
        if (writer.openRecords(t, f, first, copy)) {
            f.handedOver = copy.firstSequence + copy.records.length;
        }
    }

    private void sample(ThreadTrace t, StallFacts f, boolean passed) {
        StackSample sample = StackSample.of(t, recorder);
        f.add(sample);
        List<ThreadTrace> sampled = new ArrayList<ThreadTrace>();
        sampled.add(t);
        ThreadTrace owner = sample.owner;
        while (owner != null && !sampled.contains(owner) && sampled.size() <= MAX_OWNERS) {
            StackSample s = StackSample.of(owner, recorder);
            f.add(s);
            sampled.add(owner);
            owner = s.owner;
        }
        if (passed) {
            thresholdPassed(t, f, sample);
        } else {
            f.machineBefore(platform, t.thread);
        }
    }

    private void thresholdPassed(ThreadTrace t, StallFacts f, StackSample sample) {
        boolean first = !f.passed;
        if (first) {
            f.state = sample.state;
            f.lockOwner = platform.lockOwner(t.thread);
            f.scene = recorder.scene();
            f.foreground = recorder.foreground();
            PendingQueue queue = t.pendingQueue();
            f.pending = queue == null ? null : queue.snapshot(MAX_PENDING);
            f.machineThen(platform, t.thread);
            f.passed = true;
        }
        for (StackSample s : f.samples) {
            writer.sample(s);
        }
        f.samples.clear();
        if (first) {
            writer.pending(t, f.number, f.pending);
            writer.machine(t, f.number, sample.nanos, f.machine);
        }
    }

    private void reportStall(EndedStall s) {
        writeSuspensions();
        MessageRecord m = s.message;
        long suspended = suspensions.within(m.beginNanos, m.beginNanos + m.wallNanos);
        if (m.wallNanos - suspended < options.slowNanos(m.kind)) {
            return;
        }
        StallFacts facts = s.trace.factsOf(s.message.sequence);
        if (facts == null) {
            facts = new StallFacts(s.message.sequence, gcCount, gcMillis);
        }
        facts.end(recorder);
        facts.suspendedNanos = suspended;
        Map<String, String> end = facts.machineAtEnd(platform, s.trace.thread);
        if (end != null) {
            writer.machine(s.trace, facts.number, platform.nanoTime(), end);
        }
        if (writer.writes() || delivery.wanted()) {
            s.complete(facts, ticker);
            writer.stall(s);
            delivery.stall(s);
        }
    }

    /** Hands over what is left. No thread records any more, so from here on this thread may wait for room. */
    private void finish() {
        // Twice, because the first check may find new stalls. Again as long as there was no room for all records.
        for (int k = 0; k < 2 || (drainNext != null || !writer.opened()) && awaitRoom(); k++) {
            try {
                checkAll();
            } catch (Throwable e) {
                recorder.failed(e);
            }
        }
        suspensions.finish();
        writeSuspensions();
        for (ThreadTrace t : recorder.traces()) {
            gate.collect(t);
            recorder.countDropped(t);
        }
        if (!awaitRoom()) {
            return;
        }
        writeLeftOut();
        lastSign();
        for (ThreadTrace t : recorder.traces()) {
            List<MessageRecord> all = t.history();
            if (t.outermost != null && t.outermost.since() != 0) {
                all.add(t.outermost.running(checkNanos));
            }
            if (!all.isEmpty() && awaitRoom()) {
                writer.messages(t, all);
            }
        }
    }

    /** Waits until the writer has room. Returns false if it makes no progress, because the disk does not answer. */
    private boolean awaitRoom() {
        long before = writer.progress();
        long since = System.nanoTime();
        while (!writer.opened() || !writer.hasRoom()) {
            if (writer.progress() != before) {
                before = writer.progress();
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

    /** Writes what is open when the recording ends, whether it has passed the threshold or not. */
    private void lastSign() {
        for (ThreadTrace t : recorder.traces()) {
            long since = openSince(t);
            StallFacts f = t.factsOf(openNumber(t));
            if (since != 0) {
                if (f != null && f.passed) {
                    writeOpenRecords(t, f, since);
                }
                addAlive(t, openNumber(t), since);
            }
        }
        // Also without open calls: it says when recording ended.
        writer.alive(checkNanos, checkWallMillis, alive);
        alive = new ArrayList<OpenCall>();
    }
}
