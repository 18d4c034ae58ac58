package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The records and messages of one thread. Code that watches a message queue, such as the Android part, gets this
 * object from {@link Recorder#thread} and reports to it what the queue does.
 *
 * <p>The methods must be called on the thread itself, unless a method says otherwise. They are cheap, do nothing
 * while nothing is recorded, and never throw.
 *
 * <p>There may be very many threads, so what a thread has is made when it is needed. A thread that gets no ring,
 * because the recorder has no memory, counts the records that it drops. They have numbers as all others, so a reader
 * of the thread's records sees how many are missing, and where.
 */
public final class ThreadTrace {
    // The fields are found by name. The R8 rules in META-INF/proguard keep these names.
    private static final AtomicReferenceFieldUpdater<ThreadTrace, Ring> RING =
            AtomicReferenceFieldUpdater.newUpdater(ThreadTrace.class, Ring.class, "ring");

    private static final AtomicReferenceFieldUpdater<ThreadTrace, MessageHistory> HISTORY =
            AtomicReferenceFieldUpdater.newUpdater(ThreadTrace.class, MessageHistory.class, "history");

    private static final long[] NO_RECORDS = new long[0];

    /**
     * How old a reading of the thread's CPU clock may be, in nanoseconds. That clock is a call of the system, unlike
     * the other one, and two of them would cost several times as much as all else that is done for a message.
     */
    private static final long CPU_AGE_NANOS = 1000000L;

    /** The thread. */
    final Thread thread;

    /** The thread's number in the recording. */
    final int index;

    final boolean main;

    private final Recorder recorder;
    private volatile MessageHistory history;
    private final String name;
    private volatile Ring ring;

    /** How many records were dropped before there was a ring. Written by the thread. */
    private volatile long dropped;
    private volatile boolean recorded;
    private volatile PendingQueue queue;

    /** Set while the ticker does not move the time of the ring: the thread reads the clock before its next record. */
    volatile boolean still;

    // The number of records in the ticker's last period, and how many periods there was none. For the ticker only.
    long tickedRecords;
    int quietPeriods;

    /** For the sampler only. */
    final SamplerState sampled = new SamplerState(this);

    /** What its coroutines did; null as long as there was none. Written by the thread. */
    private volatile Marks marks;

    /** How many marks the writer got, with those that were lost. For the writer only. */
    long writtenMarks;

    /** Which composables it executed; null as long as there was none. Written by the thread. */
    private volatile Compositions compositions;

    /** The methods that are off by the changes that were written; null if there never was one. For the writer only. */
    TreeSet<Integer> off;

    // The running message. Written by the thread, read by the sampler.
    private volatile long runningSince;
    private volatile String running;
    private volatile int runningKind;
    private volatile long messages;
    private volatile long firstRecord;
    private long beginCpu;
    private long lastEnd;
    private long cpu = -1;
    private long cpuNanos;

    /** The message that ends, for the history, made at the first message. Used by the thread only. */
    private MessageHistory.Entry message;

    ThreadTrace(Recorder recorder, Thread thread, int index, boolean main, boolean recorded) {
        this.recorder = recorder;
        this.thread = thread;
        this.index = index;
        this.main = main;
        this.recorded = recorded;
        this.name = thread.getName();
    }

    /** Returns the name that the thread had when it was first seen. */
    public String name() {
        return name;
    }

    /**
     * Reports that a message begins. If the one before was not ended, it ends now.
     *
     * @param text the text that the Looper gave its {@code Printer}; null if it is not known
     */
    public void messageBegin(@Nullable String text) {
        begin(MessageRecord.NORMAL, text);
    }

    /**
     * Reports that a run of an IdleHandler begins. It ends by {@link #messageEnd}. If something else has not ended, it
     * ends now.
     *
     * @param text names the handler
     */
    public void idleHandlerBegin(String text) {
        begin(MessageRecord.IDLE_HANDLER, text);
    }

    private void begin(int kind, String text) {
        if (AppMethodBeat.mode < 0) {
            return;
        }
        try {
            if (runningSince != 0) {
                messageEnd();
            }
            Ring r = ring();
            long now = recorder.ticker().updateTime(r);
            beginCpu = cpuAt(now);
            firstRecord = nextRecord();
            put(r, Ring.ENTRY);
            if (lastEnd != 0 && now - lastEnd >= recorder.options().mergeMillis * 1000000L) {
                messageHistory().idle(lastEnd, now);
            }
            if (message == null) {
                message = new MessageHistory.Entry();
            }
            message.postedBy(0, 0);
            running = text;
            runningKind = kind;
            runningSince = now;
            recorder.messageBegan();
        } catch (Throwable e) {
            recorder.failures.failed(e);
        }
    }

    /**
     * Reports which method posted the running message. To be called before {@link #messageEnd}.
     *
     * @param nanos when that was, in {@link Platform#nanoTime()}; 0 if it is unknown
     */
    public void postedBy(int id, long nanos) {
        if (runningSince != 0) {
            message.postedBy(id, nanos);
        }
    }

    /** Reports that the running message has ended. Does nothing if no message runs. */
    public void messageEnd() {
        long since = runningSince;
        if (since == 0) {
            return;
        }
        try {
            Ring r = ring;
            long now = recorder.ticker().updateTime(r);
            put(r, 0);
            long used = beginCpu < 0 ? -1 : cpuAt(now) - beginCpu;
            long number = messages;
            runningSince = 0;
            messages = number + 1;
            lastEnd = now;
            message.text(running == null ? "" : running);
            int kind = runningKind;
            message.set(kind == MessageRecord.NORMAL ? message.kindOfText() : kind, number, 1, since, now - since,
                    used, firstRecord, nextRecord());
            MessageHistory all = messageHistory();
            if (now - since >= recorder.options().slowNanos(kind)) {
                recorder.stallEnded(this, message.record(), all.snapshot());
            }
            all.add(message);
            running = null;
        } catch (Throwable e) {
            runningSince = 0;
            recorder.failures.failed(e);
        }
    }

    /**
     * Returns the CPU time of the thread as it was at a time, or at most a millisecond before; below 0 if it is
     * unknown.
     */
    private long cpuAt(long nanos) {
        // Also if it is unknown: a platform that fails must not cost each message an exception.
        if (cpuNanos == 0 || nanos - cpuNanos >= CPU_AGE_NANOS) {
            cpu = recorder.platform().threadCpuNanos();
            cpuNanos = nanos;
        }
        return cpu;
    }

    /** Puts the record of a message's begin or end. */
    private void put(Ring r, long bit) {
        if (r != null) {
            r.put(bit | (long) AppMethodBeat.METHOD_ID_DISPATCH << Ring.ID_SHIFT | r.now);
        } else if (recorded) {
            dropRecord();
        }
    }

    /**
     * Returns the number that the thread's next record will have, for {@link Incident.Builder#records}. May be called
     * on any thread.
     *
     * @return 0 if nothing was recorded yet
     */
    public long nextRecord() {
        Ring r = ring;
        return r == null ? dropped : r.sequence();
    }

    /**
     * Returns the number of the first record of the message that runs.
     *
     * @return the same as {@link #nextRecord} if none runs
     */
    public long messageRecord() {
        return runningSince != 0 ? firstRecord : nextRecord();
    }

    /**
     * Marks this moment: the queue is idle. Updates the time of the records to the exact one.
     *
     * @return the number that the thread's next record will have, for {@link #copy}
     */
    public long mark() {
        if (AppMethodBeat.mode < 0) {
            return 0;
        }
        try {
            recorder.ticker().updateTime(ring);
        } catch (Throwable e) {
            recorder.failures.failed(e);
        }
        return nextRecord();
    }

    /**
     * Copies records. May be called on any thread. On another thread, records that are overwritten during the copy
     * are left out and counted. If there is no memory for the copy, all are.
     *
     * @param from the number of the first record, as {@link #mark} returned it
     * @param to the number behind the last record; {@code Long.MAX_VALUE} for all
     * @return the records that are still in the ring
     */
    public RecordCopy copy(long from, long to) {
        Ring r = ring;
        if (r == null) {
            return new RecordCopy(0, NO_RECORDS, 0);
        }
        try {
            return r.copy(from, to);
        } catch (OutOfMemoryError e) {
            long begin = Math.max(0, from);
            long end = Math.max(begin, Math.min(to, r.sequence()));
            return new RecordCopy(end, NO_RECORDS, end - begin);
        }
    }

    /**
     * Copies records as {@link #copy} does, with the marks of coroutines among them if records are written only of
     * stalls. On the sampler's thread only.
     */
    RecordCopy copyWithMarks(long from, long to) {
        RecordCopy copy = copy(from, to);
        Marks m = marks;
        if (m == null || recorder.options().everyRecord) {
            return copy;
        }
        // Behind the copy: a mark is there before its record.
        m.keep();
        return copy.with(m);
    }

    /**
     * Returns the history, with short messages merged, and the message that runs now. May be called on any thread.
     *
     * @return the oldest first
     */
    public List<MessageRecord> history() {
        MessageHistory h = history;
        List<MessageRecord> all = h == null ? new ArrayList<MessageRecord>() : h.snapshot();
        long since = runningSince;
        String text = running;
        if (since != 0) {
            all.add(new MessageRecord(MessageRecord.RUNNING, messages, 1, since,
                    recorder.platform().nanoTime() - since, -1, text == null ? "" : text, 0, 0));
        }
        return all;
    }

    /**
     * Returns the message that began at a time. May be called on any thread.
     *
     * @param beginNanos the begin, as {@link dev.tracegen.runtime.detector.LoopAccess#runningSince} returns it
     * @return the message with its text as the Looper made it, of the kind {@link MessageRecord#RUNNING} if it has not
     *     ended; null if there is none, if it was short, or if too many have run since
     */
    public @Nullable MessageRecord messageAt(long beginNanos) {
        long number = messages;
        String text = running;
        long first = firstRecord;
        if (beginNanos == 0) {
            return null;
        }
        if (runningSince == beginNanos && messages == number) {
            return new MessageRecord(MessageRecord.RUNNING, number, 1, beginNanos,
                    recorder.platform().nanoTime() - beginNanos, -1, text == null ? "" : text, first, nextRecord());
        }
        MessageHistory h = history;
        return h == null ? null : h.at(beginNanos);
    }

    /**
     * Sets the reader of the thread's waiting messages. May be called on any thread.
     *
     * @param value null if they cannot be read
     */
    public void setPendingQueue(@Nullable PendingQueue value) {
        queue = value;
    }

    /** Reports that a frame was drawn. May be called on any thread. */
    public void frame(FrameTiming timing) {
        recorder.frame(timing);
    }

    /**
     * Returns the thread's ring and creates it at the first call; null if the thread is not recorded or if there is no
     * memory. On the thread only.
     */
    Ring ring() {
        Ring r = ring;
        if (r == null && recorded && recorder.recording()) {
            r = recorder.rings().first(this, dropped);
            ring = r;
            if (r != null) {
                recorder.rings().replaced(r);
            }
        }
        return r;
    }

    /** Returns the ring, null if there is none. May be called on any thread. */
    Ring existingRing() {
        return ring;
    }

    /** Replaces the ring, unless another one is there. On the thread only. */
    boolean replaceRing(Ring old, Ring next) {
        return RING.compareAndSet(this, old, next);
    }

    /** Removes the ring and returns it; null if there is none. May be called on any thread. */
    Ring takeRing() {
        return RING.getAndSet(this, null);
    }

    /** Counts a record that was dropped, because there is no ring. On the thread only. */
    void dropRecord() {
        dropped++;
    }

    /** Returns how many records were dropped before there was a ring. May be called on any thread. */
    long droppedRecords() {
        return dropped;
    }

    /** Returns the history and creates it at the first call. */
    MessageHistory messageHistory() {
        MessageHistory h = history;
        if (h == null) {
            HISTORY.compareAndSet(this, null, new MessageHistory(recorder.options()));
            h = history;
        }
        return h;
    }

    /** Returns the marks and creates them at the first call. On the thread only. */
    Marks marks() {
        Marks m = marks;
        if (m == null) {
            m = new Marks(recorder.rings());
            marks = m;
        }
        return m;
    }

    /** Returns the marks, null if there are none. May be called on any thread. */
    Marks existingMarks() {
        return marks;
    }

    /** Returns the composables that it executed, and creates the object at the first call. On the thread only. */
    Compositions compositions() {
        Compositions c = compositions;
        if (c == null) {
            c = new Compositions(this, recorder.rings());
            compositions = c;
        }
        return c;
    }

    /** Returns the composables that it executed, null if there are none. May be called on any thread. */
    Compositions existingCompositions() {
        return compositions;
    }

    boolean recorded() {
        return recorded;
    }

    void choose() {
        recorded = true;
    }

    /**
     * Returns the reader of the thread's waiting messages. May be called on any thread.
     *
     * @return null if they cannot be read
     */
    public @Nullable PendingQueue pendingQueue() {
        return queue;
    }

    /**
     * Returns when the running message or IdleHandler began. May be called on any thread.
     *
     * @return the time in {@link Platform#nanoTime()}; 0 if none runs
     */
    public long runningSince() {
        return runningSince;
    }

    /**
     * Returns the kind of what runs, or of what ran last: {@link MessageRecord#NORMAL} or
     * {@link MessageRecord#IDLE_HANDLER}.
     */
    int runningKind() {
        return runningKind;
    }

    /** Returns the text of the running message; null if none runs, or if it is known only when the message ends. */
    String runningText() {
        return running;
    }

    /**
     * Returns the number of the running message's first record. It is right if {@link #messageNumber} is that of the
     * message afterwards.
     */
    long firstRecord() {
        return firstRecord;
    }

    /** Returns the number of the running message, or of the next one. */
    long messageNumber() {
        return messages;
    }
}
