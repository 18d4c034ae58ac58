package dev.tracegen.runtime;

/**
 * The records and messages of one thread. Code that watches a message queue, such as the Android part, gets this
 * object from {@link Recorder#thread} and reports to it what the queue does.
 *
 * <p>The methods must be called on the thread itself, unless a method says otherwise. They are cheap, do nothing
 * while nothing is recorded, and never throw.
 */
public final class ThreadTrace {
    /** The thread. */
    final Thread thread;

    /** The thread's number in the recording. */
    final int index;

    final boolean main;

    private final Recorder recorder;
    private final MessageHistory history;
    private final String name;
    private volatile Ring ring;
    private volatile boolean recorded;
    private volatile PendingQueue queue;

    /** Set by the thread while it calls a listener. Methods that the listener enters are not reported to it. */
    boolean inListener;

    /**
     * The number of the next record to copy into the recording, whether all records were handed over at the last
     * check, whether the thread had ended before that, and the outermost calls. Used by the sampler only.
     */
    long nextToDrain;
    boolean drained;
    boolean ended;
    OutermostCalls outermost;

    // The state of the thread's gate: its open calls, the calls that were left out by slot, and the last change that
    // was handed over. Used by the sampler only.
    CallCounts.Open openCalls;
    int[] leftOut = new int[0];
    Gate.Change writtenChange;

    /** The methods that are off by the changes that were written. Used by the writer only. */
    final java.util.TreeSet<Integer> off = new java.util.TreeSet<Integer>();

    // Facts about the last message that was checked, and the one before. Used by the sampler only; tests read them.
    volatile StallFacts facts;
    private StallFacts factsBefore;

    // The running message. Written by the thread, read by the sampler.
    private volatile long runningSince;
    private volatile String running;
    private volatile long messages;
    private volatile long firstRecord;
    private long beginCpu;
    private long lastEnd;

    ThreadTrace(Recorder recorder, Thread thread, int index, boolean main, boolean recorded) {
        this.recorder = recorder;
        this.thread = thread;
        this.index = index;
        this.main = main;
        this.recorded = recorded;
        this.name = thread.getName();
        this.history = new MessageHistory(recorder.options());
    }

    /**
     * Returns the name that the thread had when it was first seen.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * Reports that a message begins. If the one before was not ended, it ends now.
     *
     * @param text the text that the Looper gave its {@code Printer}; null if the message is known only when it ends
     */
    public void messageBegin(String text) {
        if (AppMethodBeat.mode < 0) {
            return;
        }
        try {
            if (runningSince != 0) {
                messageEnd();
            }
            Ring r = ring();
            long now = recorder.updateTime(r);
            beginCpu = recorder.platform().threadCpuNanos();
            firstRecord = r == null ? 0 : r.sequence();
            if (r != null) {
                r.put(Ring.ENTRY | (long) AppMethodBeat.METHOD_ID_DISPATCH << Ring.ID_SHIFT | r.now());
            }
            if (lastEnd != 0 && now - lastEnd >= recorder.options().mergeMillis * 1000000L) {
                history.idle(lastEnd, now);
            }
            running = text;
            runningSince = now;
            recorder.messageBegan();
        } catch (Throwable e) {
            recorder.failed(e);
        }
    }

    /**
     * Describes the running message, if its text was null. To be called before {@link #messageEnd}.
     *
     * @param what {@code Message.what}
     * @param target the class of the Handler, null for none
     * @param callback the class of the callback, null for none
     */
    public void describe(int what, String target, String callback) {
        if (runningSince != 0) {
            running = (target == null ? "(no handler)" : target) + (callback == null ? "" : " " + callback)
                    + ": " + what;
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
            long now = recorder.updateTime(r);
            if (r != null) {
                r.put((long) AppMethodBeat.METHOD_ID_DISPATCH << Ring.ID_SHIFT | r.now());
            }
            long cpu = beginCpu < 0 ? -1 : recorder.platform().threadCpuNanos() - beginCpu;
            long number = messages;
            runningSince = 0;
            messages = number + 1;
            lastEnd = now;
            MessageRecord m = new MessageRecord(MessageHistory.kindOf(running), number, 1, since, now - since, cpu,
                    running == null ? "" : running, firstRecord, r == null ? 0 : r.sequence());
            if (now - since >= recorder.options().slowMillis * 1000000L) {
                recorder.stallEnded(this, m, history.snapshot());
            }
            history.add(m);
            running = null;
        } catch (Throwable e) {
            runningSince = 0;
            recorder.failed(e);
        }
    }

    /** Reports that the queue is idle. Updates the time of the records to the exact one. */
    public void idle() {
        mark();
    }

    /**
     * Reports that an input event begins or ends outside of a message. Updates the time of the records to the exact
     * one.
     */
    public void inputEvent() {
        mark();
    }

    /**
     * Marks this moment. Updates the time of the records to the exact one.
     *
     * @return the number that the thread's next record will have, for {@link #copy}
     */
    public long mark() {
        if (AppMethodBeat.mode < 0) {
            return 0;
        }
        try {
            recorder.updateTime(ring);
        } catch (Throwable e) {
            recorder.failed(e);
        }
        Ring r = ring;
        return r == null ? 0 : r.sequence();
    }

    /**
     * Copies records. May be called on any thread. On another thread, records that are overwritten during the copy
     * are left out and counted.
     *
     * @param from the number of the first record, as {@link #mark} returned it
     * @param to the number behind the last record; {@code Long.MAX_VALUE} for all
     * @return the records that are still in the ring
     */
    public RecordCopy copy(long from, long to) {
        Ring r = ring;
        return r == null ? new RecordCopy(0, new long[0], 0) : r.copy(from, to);
    }

    /**
     * Returns the history, with short messages merged, and the message that runs now. May be called on any thread.
     *
     * @return the oldest first
     */
    public java.util.List<MessageRecord> history() {
        java.util.List<MessageRecord> all = history.snapshot();
        long since = runningSince;
        String text = running;
        if (since != 0) {
            all.add(new MessageRecord(MessageRecord.RUNNING, messages, 1, since,
                    recorder.platform().nanoTime() - since, -1, text == null ? "" : text, 0, 0));
        }
        return all;
    }

    /**
     * Returns the last messages one by one. May be called on any thread.
     *
     * @return the oldest first
     */
    public java.util.List<MessageRecord> recent() {
        return history.recent();
    }

    /**
     * Sets the reader of the thread's waiting messages. May be called on any thread.
     *
     * @param value null if they cannot be read
     */
    public void setPendingQueue(PendingQueue value) {
        queue = value;
    }

    /**
     * Reports that a frame was drawn. May be called on any thread.
     *
     * @param timing its times
     */
    public void frame(FrameTiming timing) {
        recorder.frame(timing);
    }

    /**
     * Returns the thread's ring and creates it at the first call; null if the thread is not recorded. On the thread
     * only.
     */
    Ring ring() {
        Ring r = ring;
        if (r == null && recorded && recorder.recording()) {
            r = recorder.newRing(this);
            ring = r;
            if (main) {
                recorder.updateFastPath();
            }
        }
        return r;
    }

    /** Returns the ring, null if there is none yet. May be called on any thread. */
    Ring existingRing() {
        return ring;
    }

    MessageHistory messageHistory() {
        return history;
    }

    void release() {
        ring = null;
    }

    boolean recorded() {
        return recorded;
    }

    void choose() {
        recorded = true;
    }

    PendingQueue pendingQueue() {
        return queue;
    }

    /** Returns when the running message began, in {@link Platform#nanoTime()}; 0 if none runs. */
    long runningSince() {
        return runningSince;
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

    /** Returns the facts of a message; null if it was not checked while it ran. On the sampler's thread only. */
    StallFacts factsOf(long number) {
        return facts != null && facts.number == number ? facts
                : factsBefore != null && factsBefore.number == number ? factsBefore : null;
    }

    /** Sets the facts of the message that is checked for the first time. On the sampler's thread only. */
    void setFacts(StallFacts value) {
        factsBefore = facts;
        facts = value;
    }
}
