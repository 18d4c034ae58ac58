package dev.tracegen.runtime;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Writes the recording on a thread of its own, the only one that uses {@link RecordingWriter} and waits for the disk.
 * The sampler hands over what is to be written. The queue keeps its order, so all that a chunk needs before it (the
 * change of a gate before the records behind it, a window before its records, the records of a stall before the stall)
 * is written before it.
 *
 * <p>The queue is bounded. For what the sampler can take later from a ring it asks {@link #hasRoom} first. What exists
 * only once is refused if it does not fit, and counted. The count is written as soon as the writer goes on.
 */
final class Writer implements Runnable {
    /** How many chunks may wait. */
    private static final int MAX_JOBS = 4096;

    /**
     * So many of them are kept free for what exists only once: stalls, samples and signs of life must not be refused
     * because records fill the queue.
     */
    private static final int RESERVED_JOBS = MAX_JOBS / 4;

    /** About how many bytes an object needs that waits, without its arrays. */
    private static final long JOB_BYTES = 100;

    /** About how many bytes a frame of a stack or a text needs. */
    private static final long TEXT_BYTES = 100;

    /** How long the thread waits for the end of the recording before until it says so, and again until it gives up. */
    private static final long BEFORE_MILLIS = 20000;

    /** How long the end of the program waits for the reader of a pipe, and how often it looks. */
    private static final long PIPE_NANOS = 2000000000L;
    private static final long JOIN_MILLIS = 20;

    /** How long the thread waits until there may be memory again. */
    private static final long MEMORY_NANOS = 1000000000L;

    /** How long the thread waits after a failure, which may occur again at once. */
    private static final long FAILURE_NANOS = 100000000L;

    private final Recorder recorder;
    private final Ticker ticker;
    private final RecorderOptions options;
    private final Platform platform;
    private final Dropped dropped;
    private final RoleQueue<Job> queue;
    private final Thread thread = new RecorderThread(this, "tracegen-writer");

    /** Null if nothing is or will be written. Other threads only read how long it waits. */
    private volatile RecordingWriter out;

    /** Whether what is handed over will be written. False as soon as it is known that there will be no file. */
    private volatile boolean writes;

    /** The writer of the recorder before, which may still write to the same files; null when it has ended. */
    private Writer before;

    private MessageMethods messages;

    /** Set when {@link #messages} is known. */
    private volatile boolean opened;

    /** Something to write. Immutable, or not changed after it was handed over. */
    private abstract static class Job {
        abstract void write(RecordingWriter out);
    }

    /**
     * Creates a writer. {@link #start} starts its thread.
     *
     * @param before the writer of the recorder before this one, null if there was none
     */
    Writer(Recorder recorder, Ticker ticker, Writer before) {
        this.before = before;
        this.recorder = recorder;
        this.ticker = ticker;
        this.options = recorder.options();
        this.platform = options.platform;
        this.dropped = recorder.dropped();
        this.queue = new RoleQueue<Job>(MAX_JOBS, recorder.rings().memory);
        this.writes = options.output != null;
    }

    void start() {
        thread.start();
    }

    /**
     * Reports whether the files that recording needs were read. Before that the calls that are messages are not known,
     * so records must stay in their rings.
     */
    boolean opened() {
        return opened;
    }

    /** Returns the methods whose calls are messages, null for none. To be called when {@link #opened} is true. */
    MessageMethods messages() {
        return messages;
    }

    /** Reports whether there is a file, or may be one soon. If not, nothing needs to be handed over. */
    boolean writes() {
        return writes;
    }

    /** Reports whether everything that was handed over is written. */
    boolean isIdle() {
        return opened && queue.isEmpty();
    }

    /** Ends the thread when it has written all that was handed over. On the sampler's thread, as the last call. */
    void finish() {
        queue.close();
    }

    /**
     * Waits until the thread has ended, or for so long, or until it has waited too long for the reader of a pipe: a
     * program must end also if its recording is not read.
     */
    void join(long millis) throws InterruptedException {
        long end = System.nanoTime() + millis * 1000000L;
        do {
            RecordingWriter w = out;
            if (w != null && w.waitedNanos() > PIPE_NANOS) {
                return;
            }
            thread.join(JOIN_MILLIS);
        } while (thread.isAlive() && System.nanoTime() - end < 0);
    }

    @Override
    public void run() {
        open();
        for (;;) {
            try {
                Job job = queue.next();
                if (job == null) {
                    break;
                }
                write(job);
            } catch (Throwable e) {
                failed(e);
            }
        }
        close();
    }

    /** Opens the recording on this thread, because neither the app nor the sampler may wait for a disk. */
    private void open() {
        try {
            if (options.gateFile != null) {
                GateFile.read(options.gateFile, platform);
            }
            if (options.outermostCalls) {
                messages = MessageMethods.find(options);
                if (messages != null) {
                    options.meta("messageMethods", messages.toString());
                }
            }
        } catch (Throwable e) {
            recorder.failed(e);
        }
        // From here on records may be handed over. They wait in the queue for the file.
        opened = true;
        try {
            // Also if nothing is written: the next recorder waits only for this one, and this one must not keep the
            // recorder before in memory.
            if (awaitBefore() && writes) {
                while (out == null && !openFile()) {
                    LockSupport.parkNanos(this, MEMORY_NANOS);
                }
                endIfRefused();
            }
        } catch (IOException e) {
            platform.log("no recording is written, and the program runs on: " + e.getMessage());
        } catch (Throwable e) {
            platform.log("no recording is written, and the program runs on: " + e);
        }
        writes = out != null;
    }

    /** Returns false if there is no memory now and it may be tried again later. */
    private boolean openFile() throws IOException {
        boolean last = queue.isClosed();
        try {
            RecordingWriter w = new RecordingWriter(options, ticker.baseNanos(), recorder.recordingNumber(),
                    new Disk());
            out = w;
            if (options.everyRecord) {
                w.open();
            }
            return true;
        } catch (OutOfMemoryError e) {
            if (last) {
                throw e;
            }
            return false;
        }
    }

    /**
     * Waits until the recording before is complete: its writer may use the same files. Returns false if this recorder
     * is stopped and that one still writes.
     */
    private boolean awaitBefore() {
        boolean said = false;
        boolean ended = before == null;
        while (!ended) {
            boolean last = queue.isClosed();
            ended = before.hasEnded(BEFORE_MILLIS);
            if (ended || last) {
                break;
            }
            if (!said && writes) {
                platform.log("the recording before is still being written; this one begins in memory");
                said = true;
            }
        }
        before = null;
        if (!ended && writes) {
            platform.log("no recording is written: the recording before is still being written");
        }
        return ended;
    }

    /** Waits until the thread has ended, or for so long. Returns whether it has ended. */
    private boolean hasEnded(long millis) {
        try {
            thread.join(millis);
        } catch (InterruptedException e) {
            // An app may interrupt all threads of a group. The caller tries again.
        }
        return !thread.isAlive();
    }

    private void write(Job job) {
        try {
            if (out != null) {
                writeDropped();
                writeLate();
                out.detectors(recorder.detectorStates());
                job.write(out);
                endIfRefused();
            }
        } catch (Throwable e) {
            failed(e);
            dropped.add(Dropped.CHUNKS, out == null ? 0 : 1);
        } finally {
            queue.remove();
        }
    }

    private void writeDropped() {
        long[] counts = dropped.take();
        if (counts != null && !out.dropped(counts)) {
            dropped.putBack(counts);
        }
    }

    /** Writes when the clock was late. That comes before the chunk that is written next, such as a stall. */
    private void writeLate() {
        long[] intervals = ticker.late().take();
        if (intervals != null && !out.late(intervals)) {
            ticker.late().putBack(intervals);
        }
    }

    /** Ends the recording if the output was refused. Nothing needs to be handed over from then on. */
    private void endIfRefused() {
        if (out != null && out.ended()) {
            out = null;
            writes = false;
        }
    }

    /** Logs a failure of the recorder. What the disk does is handled by {@link RecordingWriter}. */
    private void failed(Throwable e) {
        recorder.failed(e);
        LockSupport.parkNanos(this, FAILURE_NANOS);
    }

    private void close() {
        try {
            if (out != null) {
                writeDropped();
                writeLate();
                out.detectors(recorder.detectorStates());
                out.close();
            }
        } catch (Throwable e) {
            platform.log("the recording is incomplete: " + e);
        }
        String text = dropped.text();
        if (text != null) {
            platform.log("not recorded, because it came too fast or could not be written: " + text);
        }
    }

    /** Reports whether there is room for what can be taken later. If so, the next few calls without a result fit. */
    boolean hasRoom() {
        return queue.free() > RESERVED_JOBS && queue.bytes() < recorder.queueBytes() / 2;
    }

    /** Returns how many jobs the thread has done. If that does not grow, it makes no progress. */
    long progress() {
        return queue.removed();
    }

    /** Hands over what was asked room for. It is not refused because of its bytes, which are bounded. */
    private void put(Job job, long bytes) {
        if (writes && !queue.add(job, JOB_BYTES + bytes)) {
            throw new IllegalStateException("the writer's queue is full");
        }
    }

    /**
     * Hands over what exists only once, or counts it as dropped. A job that is larger than the queue may be is accepted
     * while the queue is at most half full: otherwise a stall with many records would never be written.
     */
    private boolean offer(Job job, long bytes, int kind, long count) {
        if (!writes) {
            return true;
        }
        long most = recorder.queueBytes();
        long used = queue.bytes();
        boolean fits = used + bytes <= most || used <= most / 2;
        if (fits && queue.add(job, JOB_BYTES + bytes)) {
            return true;
        }
        dropped.add(kind, count);
        return false;
    }

    /** Hands over records that were copied from a ring, the next ones of their thread. */
    void records(final ThreadTrace trace, final RecordCopy copy) {
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.records(trace, copy);
            }
        }, 8L * copy.records.length);
    }

    void gate(final ThreadTrace trace, final Gate.Change change) {
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.gate(trace, change);
            }
        }, 4L * change.ids.length);
    }

    void window(final ThreadTrace trace, final Window.Closed window) {
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.window(trace, window);
            }
        }, 0);
    }

    void leftOut(final Gate.LeftOut calls) {
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.leftOut(calls.nanos, calls.ids, calls.calls);
            }
        }, 12L * calls.ids.length);
    }

    /**
     * Hands over times in which the process did not run. Returns false if there is no room; then they are to be handed
     * over later.
     */
    boolean suspended(final List<Suspensions.Time> times) {
        if (queue.free() == 0) {
            return false;
        }
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.suspended(times);
            }
        }, 0);
        return true;
    }

    /** Hands over what ran on a thread, for the end of the recording. */
    void messages(final ThreadTrace trace, final List<MessageRecord> all) {
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.messages(trace, all);
            }
        }, TEXT_BYTES * all.size());
    }

    void sample(final StackSample sample) {
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.sample(sample);
            }
        }, TEXT_BYTES * sample.stack.length, Dropped.SAMPLES, 1);
    }

    void pending(final ThreadTrace trace, final long message, final List<PendingMessage> pending) {
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.pending(trace, message, pending);
            }
        }, pending == null ? 0 : TEXT_BYTES * pending.size(), Dropped.SAMPLES, 1);
    }

    /** Hands over what is known of the machine while a message of a thread runs, or when it has ended. */
    void machine(final ThreadTrace trace, final long message, final long nanos, final Map<String, String> facts) {
        if (facts.isEmpty()) {
            return;
        }
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.machine(trace, message, nanos, facts);
            }
        }, TEXT_BYTES * facts.size(), Dropped.SAMPLES, 1);
    }

    /** Returns false if the sign of life was dropped. */
    boolean alive(final long nanos, final long wallMillis, final List<OpenCall> open) {
        return offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.alive(nanos, wallMillis, open);
            }
        }, TEXT_BYTES * open.size(), Dropped.SIGNS, open.size());
    }

    void frames(final List<FrameTiming> frames) {
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                out.frames(frames);
            }
        }, TEXT_BYTES * frames.size(), Dropped.FRAMES, frames.size());
    }

    /**
     * Hands over new records of a message that is still running, if records are written only of stalls.
     *
     * @param first the number of the message's first record
     * @return false if there is no room now; then the same records and those behind them are to be handed over later
     */
    boolean openRecords(final ThreadTrace trace, final StallFacts facts, final long first, final RecordCopy copy) {
        if (!hasRoom()) {
            return false;
        }
        put(new Job() {
            @Override
            void write(RecordingWriter out) {
                writeOpenRecords(out, trace, facts, first, copy);
            }
        }, 8L * copy.records.length);
        return true;
    }

    /**
     * Writes new records of a running message. In a file that does not have the records before them, these come first:
     * they are still in the ring, or were overwritten and are counted. Whether the message has ended meanwhile makes no
     * difference, because records are found by their numbers.
     */
    private static void writeOpenRecords(RecordingWriter out, ThreadTrace trace, StallFacts facts, long first,
            RecordCopy copy) {
        if (facts.writtenFile != out.fileId()) {
            facts.writtenFile = out.fileId();
            facts.written = 0;
        }
        // If this fills the file, the next file has another ID and gets all records of the message again.
        long from = Math.max(first, facts.written);
        long missing = copy.firstSequence - copy.overwritten;
        if (from < missing) {
            RecordCopy before = trace.copy(from, missing);
            long end = before.firstSequence + before.records.length;
            if (!out.records(trace, end == missing ? before : new RecordCopy(missing, new long[0], missing - from))) {
                return;
            }
        }
        RecordCopy rest = copy.from(Math.max(from, missing));
        if ((rest.records.length > 0 || rest.overwritten > 0) && !out.records(trace, rest)) {
            // They are still in the ring when the disk works again, or count as overwritten.
            return;
        }
        facts.written = copy.firstSequence + copy.records.length;
    }

    /** Hands over an incident, with its records if those are written only of stalls. */
    void incident(final Incident incident) {
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                // The time of day of an incident must be right behind a deep sleep, too.
                out.clock();
                if (incident.records != null) {
                    out.records(incident.trace, incident.records);
                }
                out.incident(incident, recorder.detectorStates());
            }
        }, incident.bytes(), Dropped.INCIDENTS, 1);
    }

    /** Hands over a stall that has ended, with its records if those are written only of stalls. */
    void stall(final EndedStall ended) {
        offer(new Job() {
            @Override
            void write(RecordingWriter out) {
                writeStall(out, ended);
            }
        }, ended.bytes(), Dropped.STALLS, 1);
    }

    private void writeStall(RecordingWriter out, EndedStall ended) {
        out.clock();
        StallFacts facts = ended.facts;
        if (!options.everyRecord) {
            boolean begun = facts.written > 0 && facts.writtenFile == out.fileId();
            out.records(ended.trace, begun ? ended.records.from(facts.written) : ended.records);
        }
        out.messages(ended.trace, ended.before);
        out.stall(ended.trace, ended.stall(), ended.message);
    }
}
