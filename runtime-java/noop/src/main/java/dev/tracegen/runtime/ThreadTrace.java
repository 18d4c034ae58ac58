package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A thread of which nothing is recorded. */
public final class ThreadTrace {
    private final String name;

    /** For {@link Stall}, of which the no-op creates none. */
    final int index = 0;

    ThreadTrace(String name) {
        this.name = name;
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
     * Does nothing.
     *
     * @param text ignored
     */
    public void messageBegin(@Nullable String text) {
    }

    /**
     * Does nothing.
     *
     * @param what ignored
     * @param target ignored
     * @param callback ignored
     */
    public void describe(int what, @Nullable String target, @Nullable String callback) {
    }

    /**
     * Does nothing.
     *
     * @param id ignored
     * @param nanos ignored
     */
    public void postedBy(int id, long nanos) {
    }

    /** Does nothing. */
    public void messageEnd() {
    }

    /**
     * Returns no time.
     *
     * @return 0
     */
    public long runningSince() {
        return 0;
    }

    /**
     * Returns no number.
     *
     * @return 0
     */
    public long messageRecord() {
        return 0;
    }

    /**
     * Does nothing.
     *
     * @param text ignored
     */
    public void idleHandlerBegin(String text) {
    }

    /**
     * Does nothing.
     *
     * @param text ignored
     * @return 0
     */
    public long inputBegin(String text) {
        return 0;
    }

    /**
     * Does nothing.
     *
     * @param number ignored
     */
    public void inputEnd(long number) {
    }

    /** Does nothing. */
    public void idle() {
    }

    /** Does nothing. */
    public void inputEvent() {
    }

    /**
     * Does nothing.
     *
     * @return 0
     */
    public long mark() {
        return 0;
    }

    /**
     * Copies nothing.
     *
     * @param from ignored
     * @param to ignored
     * @return no records
     */
    public RecordCopy copy(long from, long to) {
        return new RecordCopy(0, new long[0], 0);
    }

    /**
     * Returns the history, which is empty.
     *
     * @return an empty list
     */
    public List<MessageRecord> history() {
        return new ArrayList<MessageRecord>();
    }

    /**
     * Returns the last messages, of which there are none.
     *
     * @return an empty list
     */
    public List<MessageRecord> recent() {
        return new ArrayList<MessageRecord>();
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     */
    public void setPendingQueue(@Nullable PendingQueue value) {
    }

    /**
     * Does nothing.
     *
     * @param timing ignored
     */
    public void frame(FrameTiming timing) {
    }

    /**
     * Returns the number of the next record.
     *
     * @return 0
     */
    public long nextRecord() {
        return 0;
    }

    /**
     * Returns no message.
     *
     * @param beginNanos ignored
     * @return null
     */
    public @Nullable MessageRecord messageAt(long beginNanos) {
        return null;
    }

    /**
     * Returns no reader of waiting messages.
     *
     * @return null
     */
    public @Nullable PendingQueue pendingQueue() {
        return null;
    }
}
