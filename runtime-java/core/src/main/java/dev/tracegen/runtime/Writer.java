package dev.tracegen.runtime;

import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/**
 * Writes the recording on a thread of its own, the only one that uses {@link RecordingWriter} and waits for the disk.
 */
final class Writer implements Runnable {
    /** How long the thread waits for the end of the recording before until it says so, and again until it gives up. */
    private static final long BEFORE_MILLIS = 20000;

    /** How long the thread waits until there may be memory again. */
    private static final long MEMORY_NANOS = 1000000000L;

    /** How long the thread waits after a failure, which may occur again at once. */
    private static final long FAILURE_NANOS = 100000000L;

    private final Recorder recorder;
    private final Ticker ticker;
    private final RecorderOptions options;
    private final Platform platform;
    private final Dropped dropped;

    /** What the sampler hands over. */
    final WriterQueue queue;

    private final RoleQueue<WriterQueue.Job> jobs;
    private final Thread thread = new RecorderThread(this, "tracegen-writer");

    /** Null if nothing is or will be written. Used by this thread only. */
    private RecordingWriter out;

    /** The writer of the recorder before, which may still write to the same files; null when it has ended. */
    private Writer before;

    /** Set when the files that recording needs were read. */
    private volatile boolean opened;

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
        this.queue = new WriterQueue(recorder);
        this.jobs = queue.jobs();
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

    /** Reports whether everything that was handed over is written. */
    boolean isIdle() {
        return opened && jobs.isEmpty();
    }

    /** Ends the thread when it has written all that was handed over. On the sampler's thread, as the last call. */
    void finish() {
        jobs.close();
    }

    /** Waits until the thread has ended, or for so long. */
    void join(long millis) throws InterruptedException {
        thread.join(Math.max(1, millis));
    }

    @Override
    public void run() {
        open();
        for (;;) {
            try {
                WriterQueue.Job job = jobs.next();
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
            if (options.callMessages != null) {
                options.callMessages.open(options);
            }
        } catch (Throwable e) {
            recorder.failures.failed(e);
        }
        // From here on records may be handed over. They wait in the queue for the file.
        opened = true;
        try {
            // Also if nothing is written: the next recorder waits only for this one, and this one must not keep the
            // recorder before in memory.
            if (awaitBefore() && queue.writes()) {
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
        queue.writes(out != null);
    }

    /** Returns false if there is no memory now and it may be tried again later. */
    private boolean openFile() throws IOException {
        boolean last = jobs.isClosed();
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
            boolean last = jobs.isClosed();
            ended = before.hasEnded(BEFORE_MILLIS);
            if (ended || last) {
                break;
            }
            if (!said && queue.writes()) {
                platform.log("the recording before is still being written; this one begins in memory");
                said = true;
            }
        }
        before = null;
        if (!ended && queue.writes()) {
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

    private void write(WriterQueue.Job job) {
        try {
            if (out != null) {
                writeDropped();
                writeLate();
                out.found.detectors(recorder.detectorStates());
                job.write(out);
                endIfRefused();
            }
        } catch (Throwable e) {
            failed(e);
            dropped.add(Dropped.CHUNKS, out == null ? 0 : 1);
        } finally {
            jobs.remove();
        }
    }

    private void writeDropped() {
        long[] counts = dropped.take();
        if (counts != null && !out.found.dropped(counts)) {
            dropped.putBack(counts);
        }
    }

    /** Writes when the clock was late. That comes before the chunk that is written next, such as a stall. */
    private void writeLate() {
        long[] intervals = ticker.late().take();
        if (intervals != null && !out.times.late(intervals)) {
            ticker.late().putBack(intervals);
        }
    }

    /** Ends the recording if the output was refused. Nothing needs to be handed over from then on. */
    private void endIfRefused() {
        if (out != null && out.ended()) {
            out = null;
            queue.writes(false);
        }
    }

    /** Logs a failure of the recorder. What the disk does is handled by {@link RecordingWriter}. */
    private void failed(Throwable e) {
        recorder.failures.failed(e);
        LockSupport.parkNanos(this, FAILURE_NANOS);
    }

    private void close() {
        try {
            if (out != null) {
                writeDropped();
                writeLate();
                out.found.detectors(recorder.detectorStates());
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
}
