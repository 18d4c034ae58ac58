package dev.tracegen.runtime;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The recorder's thread. It measures how long the running messages take, samples the stacks of those that take long,
 * and writes the recording. It sleeps while no message runs.
 */
final class Watcher implements Runnable {
    /** How many stalls may wait for this thread. More are not written. */
    private static final int MAX_STALLS = 16;

    /** How many frames may wait for this thread. */
    private static final int MAX_FRAMES = 4096;

    /** How many waiting messages of a stall are written. */
    private static final int MAX_PENDING = 200;

    /** How many calls of a stall are logged, as in Matrix's reports. */
    private static final int LOGGED_CALLS = 30;

    /** How long the thread checks on after the last work, and how long it waits after a failure. */
    private static final long IDLE_NANOS = 1000000000L;

    // How often a sign of life is written for an open call: after a share of the time that it has taken, within these
    // bounds. If the process is killed, the end of the call is known to 5 % or 100 ms. The rest up to that is for the
    // checks, which may come late.
    private static final int SIGN_SHARE = 25;
    private static final long MIN_SIGN_NANOS = 80000000L;
    private static final long MAX_SIGN_NANOS = 5000000000L;

    /** How many threads are sampled of which each holds the lock that the one before waits for. */
    private static final int MAX_OWNERS = 8;

    private final Recorder recorder;
    private final Ticker ticker;
    private final RecorderOptions options;
    private final Platform platform;
    private final ArrayBlockingQueue<EndedStall> stalls = new ArrayBlockingQueue<EndedStall>(MAX_STALLS);
    private final ArrayBlockingQueue<FrameTiming> frames = new ArrayBlockingQueue<FrameTiming>(MAX_FRAMES);
    private final List<OpenCall> alive = new ArrayList<OpenCall>();
    private final AtomicLong discarded = new AtomicLong();
    private final Thread thread = new RecorderThread(this, "tracegen-recorder");
    private final Gate gate;
    private RecordingWriter writer;
    private MessageMethods messages;
    private volatile boolean asleep;
    private volatile boolean stopped;
    private long busyUntil;
    private long leftOutNanos;

    // When the current check began. A call whose exit the check does not find was open then.
    private long checkNanos;
    private long checkWallMillis;
    private volatile long gcCount;
    private volatile long gcMillis;

    /** A stall that has ended, with the history of its thread before it. */
    private static final class EndedStall {
        final ThreadTrace trace;
        final MessageRecord message;
        final List<MessageRecord> before;

        EndedStall(ThreadTrace trace, MessageRecord message, List<MessageRecord> before) {
            this.trace = trace;
            this.message = message;
            this.before = before;
        }
    }

    Watcher(Recorder recorder, Ticker ticker) {
        this.recorder = recorder;
        this.ticker = ticker;
        this.options = recorder.options();
        this.platform = options.platform;
        this.gate = new Gate(recorder, options);
    }

    void start() {
        thread.start();
    }

    /** Opens the recording on this thread, because the first call of the app must not wait for a disk. */
    private void open() {
        try {
            readGcCounters();
            if (options.gateFile != null) {
                GateFile.read(options.gateFile, platform);
            }
            if (options.outermostCalls) {
                messages = MessageMethods.find(options);
                if (messages != null) {
                    options.meta("messageMethods", messages.toString());
                }
            }
            if (options.output != null) {
                writer = new RecordingWriter(options, ticker.baseNanos());
            }
        } catch (IOException e) {
            platform.log("no recording is written, and the program runs on: " + e.getMessage());
        } catch (Throwable e) {
            platform.log("no recording is written, and the program runs on: " + e);
        }
    }

    /** Logs a failure. If the next file was refused, the recording ends, and records are dropped from then on. */
    private void failed(Throwable e) {
        if (writer != null && writer.ended()) {
            writer = null;
            platform.log("the recording ends here, and the program runs on: " + e.getMessage());
        } else {
            recorder.failed(e);
        }
    }

    /** Writes the rest of the recording and ends the thread. Returns when that is done or takes too long. */
    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
        if (Thread.currentThread() == thread) {
            return;
        }
        try {
            thread.join(JvmMode.exitTimeoutMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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
            asleep = false;
            LockSupport.unpark(thread);
        }
    }

    void stallEnded(ThreadTrace trace, MessageRecord message, List<MessageRecord> before) {
        if (!stalls.offer(new EndedStall(trace, message, before))) {
            discarded.incrementAndGet();
        }
        asleep = false;
        LockSupport.unpark(thread);
    }

    void frame(FrameTiming timing) {
        if (!frames.offer(timing)) {
            discarded.incrementAndGet();
        }
        wake();
    }

    @Override
    public void run() {
        open();
        while (!stopped) {
            try {
                Thread.interrupted();
                runOnce();
            } catch (Throwable e) {
                failed(e);
                LockSupport.parkNanos(this, IDLE_NANOS);
            }
        }
        finish();
    }

    /** Checks all threads once, and sleeps until the next check. */
    private void runOnce() throws IOException {
        long work = checkAll();
        long now = platform.nanoTime();
        if (work > 0) {
            busyUntil = now + IDLE_NANOS;
        }
        if (now < busyUntil || options.everyRecord) {
            LockSupport.parkNanos(this, pollNanos(work));
            return;
        }
        asleep = true;
        // A message that has just begun may not have seen the field asleep.
        if (!anyMessageRuns() && stalls.isEmpty() && !stopped) {
            LockSupport.park(this);
        }
        asleep = false;
    }

    private long pollNanos(long work) {
        if (options.everyRecord) {
            return work > 1000 ? 1000000L : 20000000L;
        }
        return Math.max(10, Math.min(100, options.slowMillis / 8)) * 1000000L;
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
    private long checkAll() throws IOException {
        checkWallMillis = platform.wallMillis();
        checkNanos = recorder.lastNanos();
        long work = reportStalls();
        for (ThreadTrace t : recorder.traces()) {
            boolean ended = t.thread.getState() == Thread.State.TERMINATED && !t.main;
            if (options.everyRecord) {
                work += drain(t, ended);
            } else {
                writeGate(t, t.existingRing() == null ? null : t.existingRing().lastChange);
            }
            work += watch(t, openSince(t), openNumber(t));
            if (ended) {
                gate.collect(t);
                recorder.forget(t);
            }
        }
        gate.decide(platform.nanoTime());
        if (writer != null && platform.nanoTime() - leftOutNanos >= IDLE_NANOS) {
            leftOutNanos = platform.nanoTime();
            gate.writeLeftOut(writer, leftOutNanos);
        }
        writeAlive();
        work += reportStalls();
        readGcCounters();
        return work + writeFrames();
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
    private static long openNumber(ThreadTrace t) {
        return hasMessages(t) || t.outermost == null ? t.messageNumber() : t.outermost.number();
    }

    private int reportStalls() throws IOException {
        int n = 0;
        for (EndedStall s = stalls.poll(); s != null; s = stalls.poll()) {
            reportStall(s);
            n++;
        }
        return n;
    }

    private int writeFrames() throws IOException {
        List<FrameTiming> batch = new ArrayList<FrameTiming>();
        frames.drainTo(batch);
        if (writer != null) {
            writer.frames(batch);
        }
        return batch.size();
    }

    /**
     * Copies the new records of a thread into the recording, and those of its window.
     *
     * @param ended whether the thread had ended before, so that its window is copied as a whole
     * @return how many records there were
     */
    private long drain(ThreadTrace t, boolean ended) throws IOException {
        Ring ring = t.existingRing();
        if (ring == null) {
            return 0;
        }
        long n = copyRecords(t, ring);
        // Once more for the records of the window. While the thread runs, it may open another one at once.
        for (int k = 0; k < 1 || ended || stopped; k++) {
            Window.Closed window = ring.closeWindow();
            if (window == null) {
                break;
            }
            if (writer != null) {
                writer.window(t, window);
            }
            n += 1 + copyRecords(t, ring);
            gate.count(t, window, ticker.tickNanos());
        }
        return n;
    }

    private long copyRecords(ThreadTrace t, Ring ring) throws IOException {
        long n = 0;
        long end = ring.sequence();
        // Behind the line above: every change before a record that is copied now is seen.
        writeGate(t, ring.lastChange);
        boolean outermost = options.outermostCalls && !hasMessages(t);
        if (outermost && (t.nextToDrain < end || t.outermost != null && t.outermost.since() != 0)) {
            if (t.outermost == null) {
                t.outermost = new OutermostCalls(messages);
            }
            t.outermost.sampleCpu(platform.nanoTime(), platform.threadCpuNanos(t.thread));
        }
        while (t.nextToDrain < end) {
            RecordCopy copy = ring.copy(t.nextToDrain, Math.min(end, t.nextToDrain + RecordingWriter.CHUNK_RECORDS));
            t.nextToDrain = copy.firstSequence + copy.records.length;
            n += copy.records.length + copy.overwritten;
            ring.copied(t.nextToDrain);
            gate.count(t, copy, ticker.tickNanos());
            if (writer != null) {
                writer.records(t, copy);
            }
            if (outermost) {
                addOutermostCalls(t, copy);
            }
        }
        return n;
    }

    /** Writes the changes of a thread's gate since the last call of this, the oldest first. */
    private void writeGate(ThreadTrace t, Gate.Change last) throws IOException {
        if (last == null || last == t.writtenChange) {
            return;
        }
        ArrayList<Gate.Change> changes = new ArrayList<Gate.Change>();
        for (Gate.Change c = last; c != null && c != t.writtenChange; c = c.before) {
            changes.add(c);
        }
        t.writtenChange = last;
        last.before = null;
        for (int k = changes.size() - 1; k >= 0 && writer != null; k--) {
            writer.gate(t, changes.get(k));
        }
    }

    private void addOutermostCalls(ThreadTrace t, RecordCopy copy) throws IOException {
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
            if (m.wallNanos >= options.slowMillis * 1000000L) {
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
    private int watch(ThreadTrace t, long since, long number) throws IOException {
        if (since == 0) {
            return 0;
        }
        StallFacts f = t.factsOf(number);
        long threshold = options.slowMillis * 1000000L;
        if (f == null) {
            f = new StallFacts(number, gcCount, gcMillis);
            f.nextSample = threshold / 2;
            t.setFacts(f);
        }
        long now = platform.nanoTime();
        long elapsed = now - since;
        Ring ring = t.existingRing();
        long next = ring == null ? 0 : ring.sequence();
        if (next != f.nextRecord) {
            f.nextRecord = next;
            f.quietSince = now;
            f.nextQuietSample = threshold;
        }
        long quiet = now - f.quietSince;
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
        // At the next check it would be too late.
        if (f.passed && (f.lastSign == 0 || checkNanos - f.lastSign >= interval - pollNanos(0))) {
            f.lastSign = checkNanos;
            writeOpenRecords(t, f, since);
            addAlive(t, number, since);
        }
        return 1;
    }

    private void addAlive(ThreadTrace t, long number, long since) {
        String text = hasMessages(t) || t.outermost == null ? t.runningText() : t.outermost.text();
        alive.add(new OpenCall(t, number, text, since, t.thread.getState(), platform.threadCpuNanos(t.thread)));
    }

    private void writeAlive() throws IOException {
        if (writer != null && !alive.isEmpty()) {
            writer.alive(checkNanos, checkWallMillis, alive);
        }
        alive.clear();
    }

    /** Writes the new records of a message that is still running, if records are written only of stalls. */
    private void writeOpenRecords(ThreadTrace t, StallFacts f, long since) throws IOException {
        if (options.everyRecord || writer == null || t.existingRing() == null) {
            return;
        }
        long first = t.firstRecord();
        RecordCopy copy = t.copy(f.writtenFile == writer.fileId() ? Math.max(first, f.written) : first,
                Long.MAX_VALUE);
        if (t.messageNumber() != f.number || t.runningSince() != since) {
            // It has ended meanwhile, and the copy may have records of the next message.
            return;
        }
        if (copy.records.length > 0 || copy.overwritten > 0) {
            // The ID from before: if this fills the file, the next file gets all records of the message again.
            f.writtenFile = writer.fileId();
            f.written = copy.firstSequence + copy.records.length;
            writer.records(t, copy);
        }
    }

    private void sample(ThreadTrace t, StallFacts f, boolean passed) throws IOException {
        StackSample sample = StackSample.of(t, recorder);
        f.samples.add(sample);
        List<ThreadTrace> sampled = new ArrayList<ThreadTrace>();
        sampled.add(t);
        ThreadTrace owner = sample.owner;
        while (owner != null && !sampled.contains(owner) && sampled.size() <= MAX_OWNERS) {
            StackSample s = StackSample.of(owner, recorder);
            f.samples.add(s);
            sampled.add(owner);
            owner = s.owner;
        }
        if (passed) {
            thresholdPassed(t, f, sample);
        }
    }

    private void thresholdPassed(ThreadTrace t, StallFacts f, StackSample sample) throws IOException {
        boolean first = !f.passed;
        if (first) {
            f.state = sample.state;
            f.lockOwner = platform.lockOwner(t.thread);
            f.scene = recorder.scene();
            f.foreground = recorder.foreground();
            PendingQueue queue = t.pendingQueue();
            f.pending = queue == null ? null : queue.snapshot(MAX_PENDING);
            f.passed = true;
        }
        for (StackSample s : f.samples) {
            if (writer != null) {
                writer.sample(s);
            }
        }
        f.samples.clear();
        if (first && writer != null) {
            writer.pending(t, f.number, f.pending);
        }
    }

    private void reportStall(EndedStall s) throws IOException {
        StallFacts facts = s.trace.factsOf(s.message.sequence);
        if (facts == null) {
            facts = new StallFacts(s.message.sequence, gcCount, gcMillis);
        }
        facts.end(recorder);
        RecordCopy copy = s.trace.copy(s.message.firstRecord, s.message.endRecord);
        long endTicks = (s.message.beginNanos + s.message.wallNanos - ticker.baseNanos()) / ticker.tickNanos();
        Stall stall = new Stall(s.trace, s.message, facts, new CallTree(copy.records, endTicks), s.before);
        if (writer != null) {
            boolean begun = facts.written > 0 && facts.writtenFile == writer.fileId();
            write(s, stall, begun ? copy.from(facts.written) : copy);
        }
        if (options.mapping != null) {
            logStall(stall);
        }
        StallListener listener = Recorder.stallListener();
        if (listener != null) {
            listener.stallEnded(stall);
        }
    }

    private void logStall(Stall stall) {
        try {
            for (String line : options.mapping.describe(stall, LOGGED_CALLS).split("\n")) {
                platform.log(line);
            }
        } catch (IOException e) {
            platform.log("stall: " + stall.wallNanos / 1000000 + " ms on " + stall.thread + ": " + stall.description
                    + " (the mapping cannot be read: " + e.getMessage() + ")");
        }
    }

    private void write(EndedStall s, Stall stall, RecordCopy copy) throws IOException {
        writer.clock();
        if (!options.everyRecord) {
            writer.records(s.trace, copy);
        }
        writer.messages(s.trace, s.before);
        writer.stall(s.trace, stall, s.message);
    }

    private void finish() {
        // Twice, because the first check may find new stalls.
        for (int k = 0; k < 2; k++) {
            try {
                checkAll();
            } catch (Throwable e) {
                failed(e);
            }
        }
        if (writer == null || !writer.begun()) {
            return;
        }
        try {
            for (ThreadTrace t : recorder.traces()) {
                gate.collect(t);
            }
            gate.writeLeftOut(writer, platform.nanoTime());
            lastSign();
            for (ThreadTrace t : recorder.traces()) {
                List<MessageRecord> all = t.history();
                if (t.outermost != null && t.outermost.since() != 0) {
                    all.add(t.outermost.running(checkNanos));
                }
                writer.messages(t, all);
            }
            if (discarded.get() > 0) {
                platform.log("not written, because they came too fast: stalls and frames, together " + discarded.get());
            }
            writer.close();
        } catch (Throwable e) {
            platform.log("the recording is incomplete: " + e);
        }
    }

    /** Writes what is open when the recording ends, whether it has passed the threshold or not. */
    private void lastSign() throws IOException {
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
        writer.alive(checkNanos, checkWallMillis, alive);
        alive.clear();
    }
}
