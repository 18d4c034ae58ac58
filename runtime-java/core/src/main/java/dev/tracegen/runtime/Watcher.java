package dev.tracegen.runtime;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The recorder's thread: looks how long the running messages take, looks into those that took too long, and writes the
 * recording. It wakes up while there is something to look at, and sleeps when there is nothing.
 */
final class Watcher implements Runnable {
    /** Slow messages that wait to be looked into; when there are more something else is wrong. */
    private static final int MAX_WAITING = 16;

    /** Frames that wait to be written. */
    private static final int MAX_FRAMES = 4096;

    private static final int MAX_PENDING = 200;

    /** Calls of a slow message that are told to who looks on: Matrix's 30. */
    private static final int TOLD_ITEMS = 30;

    private static final long QUIET_NANOS = 1000000000L;

    private final Recorder recorder;
    private final Ticker ticker;
    private final RecorderOptions options;
    private final Platform platform;
    private final ArrayBlockingQueue<Slow> waiting = new ArrayBlockingQueue<Slow>(MAX_WAITING);
    private final ArrayBlockingQueue<FrameTiming> frames = new ArrayBlockingQueue<FrameTiming>(MAX_FRAMES);
    private final AtomicLong dropped = new AtomicLong();
    private final Thread thread = new RecorderThread(this, "tracegen-recorder");
    private RecordingWriter writer;
    private volatile boolean asleep;
    private volatile boolean stopped;
    private long busyUntil;
    private volatile long gcCount;
    private volatile long gcMillis;

    private static final class Slow {
        final ThreadTrace trace;
        final MessageRecord message;
        final List<MessageRecord> before;

        Slow(ThreadTrace trace, MessageRecord message, List<MessageRecord> before) {
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
    }

    void start() {
        thread.start();
    }

    /** On the recorder's thread: the app's first call must not wait for a disk. */
    private void open() {
        try {
            if (options.output != null) {
                writer = new RecordingWriter(options, ticker.baseNanos());
            }
            lookAtCollections();
        } catch (IOException e) {
            platform.log("no recording is written, and the program runs on: " + e.getMessage());
        } catch (Throwable e) {
            platform.log("no recording is written, and the program runs on: " + e);
        }
    }

    private void failed(Throwable e) {
        if (writer != null && writer.ended()) {
            writer = null;
            platform.log("the recording ends here, and the program runs on: " + e.getMessage());
        } else {
            recorder.failed(e);
        }
    }

    /** Writes the rest and ends. Comes back when that is done, or has taken too long. */
    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
        if (Thread.currentThread() == thread) {
            return;
        }
        try {
            thread.join(JvmMode.patienceMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** There is something to look at. Costs a look at a field unless the thread sleeps. */
    void wake() {
        if (asleep) {
            // What was collected in the meantime is not this message's.
            lookAtCollections();
            asleep = false;
            LockSupport.unpark(thread);
        }
    }

    void slow(ThreadTrace trace, MessageRecord message, List<MessageRecord> before) {
        if (!waiting.offer(new Slow(trace, message, before))) {
            dropped.incrementAndGet();
        }
        asleep = false;
        LockSupport.unpark(thread);
    }

    void frame(FrameTiming timing) {
        if (!frames.offer(timing)) {
            dropped.incrementAndGet();
        }
        wake();
    }

    @Override
    public void run() {
        open();
        while (!stopped) {
            try {
                Thread.interrupted();
                turn();
            } catch (Throwable e) {
                failed(e);
                LockSupport.parkNanos(this, QUIET_NANOS);
            }
        }
        finish();
    }

    /** Looks once, and sleeps until it is time to look again. */
    private void turn() throws IOException {
        long work = look();
        long now = platform.nanoTime();
        if (work > 0) {
            busyUntil = now + QUIET_NANOS;
        }
        if (now < busyUntil || options.everyRecord) {
            LockSupport.parkNanos(this, pollNanos(work));
            return;
        }
        asleep = true;
        // A message that began just now has not seen that anybody sleeps.
        if (!somethingRuns() && waiting.isEmpty() && !stopped) {
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

    private boolean somethingRuns() {
        for (ThreadTrace t : recorder.traces()) {
            if (t.runningSince() != 0) {
                return true;
            }
        }
        return false;
    }

    /** One round. Gives how much there was to do. */
    private long look() throws IOException {
        long work = reports();
        for (ThreadTrace t : recorder.traces()) {
            boolean ended = t.thread.getState() == Thread.State.TERMINATED && !t.main;
            work += options.everyRecord ? drain(t) : 0;
            work += hasMessages(t) || t.outermost == null ? watch(t, t.runningSince(), t.messageNumber())
                    : watch(t, t.outermost.since(), t.outermost.number());
            if (ended) {
                recorder.forget(t);
            }
        }
        work += reports();
        lookAtCollections();
        return work + frames();
    }

    private void lookAtCollections() {
        gcCount = platform.gcCount();
        gcMillis = platform.gcMillis();
    }

    /** Whether somebody tells of a thread's messages, so that its outermost calls are none. */
    private static boolean hasMessages(ThreadTrace t) {
        return t.messageNumber() > 0 || t.runningSince() != 0;
    }

    private int reports() throws IOException {
        int n = 0;
        for (Slow s = waiting.poll(); s != null; s = waiting.poll()) {
            report(s);
            n++;
        }
        return n;
    }

    private int frames() throws IOException {
        List<FrameTiming> batch = new ArrayList<FrameTiming>();
        frames.drainTo(batch);
        if (writer != null) {
            writer.frames(batch);
        }
        return batch.size();
    }

    /** Takes a thread's new records. Gives how many. */
    private long drain(ThreadTrace t) throws IOException {
        Ring ring = t.existingRing();
        if (ring == null) {
            return 0;
        }
        long n = 0;
        long end = ring.sequence();
        boolean outermost = options.outermostCalls && !hasMessages(t);
        if (outermost && (t.drained < end || t.outermost != null && t.outermost.since() != 0)) {
            if (t.outermost == null) {
                t.outermost = new OutermostCalls();
            }
            t.outermost.look(platform.nanoTime(), platform.threadCpuNanos(t.thread));
        }
        while (t.drained < end) {
            RecordCopy copy = ring.copy(t.drained, Math.min(end, t.drained + RecordingWriter.CHUNK_RECORDS));
            t.drained = copy.firstSequence + copy.records.length;
            n += copy.records.length + copy.overwritten;
            if (writer != null) {
                writer.records(t, copy);
            }
            if (outermost) {
                findOutermost(t, copy);
            }
        }
        return n;
    }

    private void findOutermost(ThreadTrace t, RecordCopy copy) throws IOException {
        if (copy.overwritten > 0) {
            t.outermost.forget();
        }
        for (int k = 0; k < copy.records.length; k++) {
            long r = copy.records[k];
            long nanos = ticker.baseNanos() + (r & Ring.TIME_MASK) * ticker.tickNanos();
            MessageRecord m = t.outermost.take(r, copy.firstSequence + k, nanos);
            if (m == null) {
                continue;
            }
            if (m.wallNanos >= options.slowMillis * 1000000L) {
                report(new Slow(t, m, t.messageHistory().snapshot()));
            }
            t.messageHistory().add(m);
        }
    }

    /**
     * Looks at what runs on a thread, from half the threshold on ever less often: at what it does, and when the threshold
     * is passed at all else that will be asked. From then on what is found is written at once: who knows whether the
     * message ever ends.
     */
    private int watch(ThreadTrace t, long since, long number) throws IOException {
        if (since == 0) {
            return 0;
        }
        SlowFacts f = t.factsOf(number);
        long slow = options.slowMillis * 1000000L;
        if (f == null) {
            f = new SlowFacts(number, gcCount, gcMillis);
            f.nextSample = slow / 2;
            t.setFacts(f);
        }
        long elapsed = platform.nanoTime() - since;
        if (elapsed < f.nextSample) {
            return 1;
        }
        f.nextSample = elapsed < slow ? Math.min(slow, elapsed + slow / 4) : elapsed + elapsed / 4;
        StackSample sample = StackSample.of(t, platform);
        f.samples.add(sample);
        Thread owner = sample.state == Thread.State.RUNNABLE ? null : platform.lockOwnerThread(t.thread);
        if (owner != null) {
            f.samples.add(StackSample.of(recorder.traceOf(owner), platform));
        }
        if (elapsed >= slow) {
            pass(t, f, sample);
        }
        return 1;
    }

    private void pass(ThreadTrace t, SlowFacts f, StackSample sample) throws IOException {
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

    private void report(Slow s) throws IOException {
        SlowFacts facts = s.trace.factsOf(s.message.sequence);
        if (facts == null) {
            facts = new SlowFacts(s.message.sequence, gcCount, gcMillis);
        }
        facts.end(recorder);
        RecordCopy copy = s.trace.copy(s.message.firstRecord, s.message.endRecord);
        long endTicks = (s.message.beginNanos + s.message.wallNanos - ticker.baseNanos()) / ticker.tickNanos();
        SlowMessage slow = new SlowMessage(s.trace, s.message, facts, new CallTree(copy.records, endTicks), s.before);
        if (writer != null) {
            write(s, slow, copy);
        }
        if (options.mapping != null) {
            tell(slow);
        }
        SlowMessageListener listener = Recorder.slowListener();
        if (listener != null) {
            listener.slowMessage(slow);
        }
    }

    private void tell(SlowMessage slow) {
        try {
            for (String line : options.mapping.describe(slow, TOLD_ITEMS).split("\n")) {
                platform.log(line);
            }
        } catch (IOException e) {
            platform.log("slow: " + slow.wallNanos / 1000000 + " ms on " + slow.thread + ": " + slow.description
                    + " (its calls have no names: " + e.getMessage() + ")");
        }
    }

    private void write(Slow s, SlowMessage slow, RecordCopy copy) throws IOException {
        writer.clock();
        if (!options.everyRecord) {
            writer.records(s.trace, copy);
        }
        writer.messages(s.trace, s.before);
        writer.jank(s.trace, slow, s.message);
    }

    private void finish() {
        // Twice: the first may find slow calls at the very end.
        for (int k = 0; k < 2; k++) {
            try {
                look();
            } catch (Throwable e) {
                failed(e);
            }
        }
        if (writer == null) {
            return;
        }
        try {
            for (ThreadTrace t : recorder.traces()) {
                List<MessageRecord> all = t.history();
                if (t.outermost != null && t.outermost.since() != 0) {
                    all.add(t.outermost.running(platform.nanoTime()));
                }
                writer.messages(t, all);
            }
            if (dropped.get() > 0) {
                platform.log(dropped.get() + " slow messages or frames came too fast to be written");
            }
            writer.close();
        } catch (Throwable e) {
            platform.log("the recording is not complete: " + e);
        }
    }
}
