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
    private long gcCount;
    private long gcMillis;

    private static final class Slow {
        final ThreadTrace trace;
        final MessageRecord message;
        final SlowFacts facts;
        final List<MessageRecord> before;

        Slow(ThreadTrace trace, MessageRecord message, SlowFacts facts, List<MessageRecord> before) {
            this.trace = trace;
            this.message = message;
            this.facts = facts;
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
            gcCount = platform.gcCount();
            gcMillis = platform.gcMillis();
        } catch (Throwable e) {
            platform.log("no recording: " + e);
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
            asleep = false;
            LockSupport.unpark(thread);
        }
    }

    void slow(ThreadTrace trace, MessageRecord message, SlowFacts facts, List<MessageRecord> before) {
        if (!waiting.offer(new Slow(trace, message, facts, before))) {
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
                recorder.failed(e);
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
            work += watch(t, t.runningSince(), t.messageNumber());
            if (t.outermost != null) {
                watch(t, t.outermost.since(), t.outermost.number());
            }
            if (ended) {
                recorder.forget(t);
            }
        }
        work += reports();
        gcCount = platform.gcCount();
        gcMillis = platform.gcMillis();
        return work + frames();
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
        while (t.drained < end) {
            RecordCopy copy = ring.copy(t.drained, Math.min(end, t.drained + RecordingWriter.CHUNK_RECORDS));
            t.drained = copy.firstSequence + copy.records.length;
            n += copy.records.length + copy.overwritten;
            if (writer != null) {
                writer.records(t, copy);
            }
            if (options.outermostCalls) {
                findOutermost(t, copy);
            }
        }
        return n;
    }

    private void findOutermost(ThreadTrace t, RecordCopy copy) {
        if (t.outermost == null) {
            t.outermost = new OutermostCalls();
        }
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
                SlowFacts facts = t.factsOf() == m.sequence ? t.facts() : null;
                if (!waiting.offer(new Slow(t, m, facts, t.messageHistory().snapshot()))) {
                    dropped.incrementAndGet();
                }
            }
            t.messageHistory().add(m);
        }
    }

    /** Looks at what runs on a thread: once it has passed the threshold, at what it does just then. */
    private int watch(ThreadTrace t, long since, long number) {
        if (t.collectionsOf != number || since == 0) {
            // A message's collections are those since the last look before it.
            t.collectionsOf = number;
            t.collections = gcCount;
            t.collectionMillis = gcMillis;
        }
        if (since == 0) {
            return 0;
        }
        if (t.factsOf() != number && platform.nanoTime() - since >= options.slowMillis * 1000000L) {
            SlowFacts f = new SlowFacts();
            f.sampleNanos = platform.nanoTime();
            f.state = t.thread.getState();
            f.stack = t.thread.getStackTrace();
            f.lockOwner = platform.lockOwner(t.thread);
            f.scene = recorder.scene();
            f.foreground = recorder.foreground();
            PendingQueue queue = t.pendingQueue();
            f.pending = queue == null ? null : queue.snapshot(MAX_PENDING);
            t.setFacts(number, f);
        }
        return 1;
    }

    private void report(Slow s) throws IOException {
        SlowFacts facts = s.facts;
        if (facts == null) {
            facts = new SlowFacts();
            facts.scene = recorder.scene();
            facts.foreground = recorder.foreground();
        }
        long count = platform.gcCount();
        if (count >= 0 && s.trace.collectionsOf == s.message.sequence) {
            facts.gcCount = count - s.trace.collections;
            facts.gcMillis = platform.gcMillis() - s.trace.collectionMillis;
        }
        RecordCopy copy = s.trace.copy(s.message.firstRecord, s.message.endRecord);
        long endTicks = (s.message.beginNanos + s.message.wallNanos - ticker.baseNanos()) / ticker.tickNanos();
        SlowMessage slow = new SlowMessage(s.trace, s.message, facts, new CallTree(copy.records, endTicks), s.before);
        if (writer != null) {
            write(s, slow, facts, copy);
        }
        SlowMessageListener listener = Recorder.slowListener();
        if (listener != null) {
            listener.slowMessage(slow);
        }
    }

    private void write(Slow s, SlowMessage slow, SlowFacts facts, RecordCopy copy) throws IOException {
        writer.clock();
        if (!options.everyRecord) {
            writer.records(s.trace, copy);
        }
        writer.messages(s.trace, s.before);
        if (facts.stack != null) {
            writer.sample(s.trace, facts.sampleNanos, facts.state, facts.stack);
            writer.pending(s.trace, s.message.sequence, facts.pending);
        }
        writer.jank(s.trace, slow, s.message);
    }

    private void finish() {
        // Twice: the first may find slow calls at the very end.
        for (int k = 0; k < 2; k++) {
            try {
                look();
            } catch (Throwable e) {
                recorder.failed(e);
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
