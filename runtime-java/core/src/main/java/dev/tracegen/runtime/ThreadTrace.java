package dev.tracegen.runtime;

/**
 * One thread, as the recorder sees it. Whoever watches a message queue (the Android part does for loopers) gets the
 * thread's from {@link Recorder#thread} and tells it what the queue does.
 *
 * <p>Unless a method says otherwise it must be called on the thread itself. All of them are cheap, do nothing while
 * nothing is recorded, and never throw.
 */
public final class ThreadTrace {
    /** The thread. */
    final Thread thread;

    /** Its number in the recording. */
    final int index;

    final boolean main;

    private final Recorder recorder;
    private final MessageHistory history;
    private final String name;
    private volatile Ring ring;
    private volatile boolean recorded;
    private volatile PendingQueue queue;

    /** Set by the thread while it is in a listener, so that what that calls is not reported again. */
    boolean inListener;

    /** How far the recorder has taken its records, and what it knows of them; the recorder's thread's alone. */
    long nextToDrain;
    OutermostCalls outermost;

    // What was found out about the message that runs, or ran last, and the one before; the recorder's thread's alone,
    // but for tests, which look whether it has come so far.
    volatile StallFacts facts;
    private StallFacts factsBefore;

    // The message that runs. The thread writes these, the recorder's thread looks at them.
    private volatile long runningSince;
    private volatile String running;
    private volatile long messages;
    private long firstRecord;
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
     * The thread's name when it was first lastRecordCount.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * A message begins. One that was not ended before ends now.
     *
     * @param text what runs, as the looper's {@code Printer} was told; null if that is not known until it ends
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
     * Says what the running message is, for who knows it only when it ends. Before {@link #messageEnd}.
     *
     * @param what {@code Message.what}
     * @param target the handler's class, null for none
     * @param callback the callback's class, null for none
     */
    public void describe(int what, String target, String callback) {
        if (runningSince != 0) {
            running = (target == null ? "(no handler)" : target) + (callback == null ? "" : " " + callback) + ": " + what;
        }
    }

    /** The running message has ended. Without one, nothing happens. */
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

    /** The queue has nothing to run now. Moves the records' clock to the exact time. */
    public void idle() {
        mark();
    }

    /** An input event has come in or was handled, outside of any message. Moves the records' clock to the exact time. */
    public void inputEvent() {
        mark();
    }

    /**
     * Marks this moment.
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
     * Copies records. May be called from any thread; on another than its own, records that are overwritten meanwhile
     * are left out and counted.
     *
     * @param from the first one's number, as {@link #mark} gave it
     * @param to the number after the last one's; {@code Long.MAX_VALUE} for all there are
     * @return the records that are still there
     */
    public RecordCopy copy(long from, long to) {
        Ring r = ring;
        return r == null ? new RecordCopy(0, new long[0], 0) : r.copy(from, to);
    }

    /**
     * What the thread did: the history, with short messages merged, then what runs now.
     *
     * @return the oldest first; may be called from any thread
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
     * The last messages one by one.
     *
     * @return the oldest first; may be called from any thread
     */
    public java.util.List<MessageRecord> recent() {
        return history.recent();
    }

    /**
     * Lets the recorder see what waits in the thread's queue. May be called from any thread.
     *
     * @param value null if it cannot be lastRecordCount
     */
    public void setPendingQueue(PendingQueue value) {
        queue = value;
    }

    /**
     * A frame was drawn. May be called from any thread.
     *
     * @param timing its times
     */
    public void frame(FrameTiming timing) {
        recorder.frame(timing);
    }

    /** The thread's ring, made when it is first needed; null if the thread is not recorded. Only on the thread. */
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

    /** The ring if there is one. From any thread. */
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

    /** When the running message began, 0 if none runs. */
    long runningSince() {
        return runningSince;
    }

    /** The running message's number. */
    long messageNumber() {
        return messages;
    }

    /** What is known of a message; null if it was not looked at while it ran. On the recorder's thread. */
    StallFacts factsOf(long number) {
        return facts != null && facts.number == number ? facts
                : factsBefore != null && factsBefore.number == number ? factsBefore : null;
    }

    /** A message is looked at for the first time. On the recorder's thread. */
    void setFacts(StallFacts value) {
        factsBefore = facts;
        facts = value;
    }
}
