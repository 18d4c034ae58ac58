package dev.tracegen.runtime;

import java.util.Arrays;

/**
 * Finds the outermost calls of a thread that has no messages. It reads the thread's records as they are copied from
 * the ring. If the exit of an inner call is missing, the exit of an outer call ends both, as in {@link CallTree}. If
 * the exit of an outermost call is missing, the call never ends: the records do not show that it did. Instrument with
 * {@code --exits exact} where that matters.
 *
 * <p>If there are methods whose calls are messages, see {@link MessageMethods}, such a call is a message, unless it is
 * in another one. The calls that enclose a message are none, and so are outermost calls of the same method on other
 * threads: they are the loops of threads that wait for the next message.
 *
 * <p>The CPU time of a call is an estimate. Measuring it at each begin and end would slow every call down. The
 * recorder samples the thread's CPU time before it copies records. Between two samples the CPU time grows at most as
 * fast as the clock and never falls. The estimate is the middle of what that allows, so it is wrong at each end of a
 * call by at most half the time between two samples.
 */
final class CallsOfThread extends CallMessages.OfThread {
    /**
     * Calls that are nested deeper than this are counted and not stored, to bound the memory of an endless recursion.
     */
    private static final int MAX_DEPTH = 1 << 14;

    /** Null if there are no methods whose calls are messages. */
    private final MessageMethods messages;

    /** The depth of the call that is a message, -1 if none is open. Without such methods it is the outermost call. */
    private int message = -1;

    /** Grows up to the greatest depth: there may be very many threads. */
    private int[] open = new int[16];
    private int depth;
    private long beyond;
    private long begin;
    private long beginCpu;
    private long first;
    private long number;

    /** The message that has ended. Used again: very short calls may be outermost. */
    private final MessageHistory.Entry ended = new MessageHistory.Entry();

    // The last two samples. The first one is compared with the start of the thread.
    private long previousSample;
    private long previousCpu = -1;
    private long lastSample;
    private long lastCpu = -1;

    CallsOfThread(MessageMethods messages) {
        this.messages = messages;
    }

    @Override
    void sampleCpu(long nanos, long cpuNanos) {
        previousSample = lastSample;
        previousCpu = lastCpu;
        lastSample = nanos;
        lastCpu = cpuNanos;
    }

    /** Returns the estimated CPU time at a moment between the last two samples, in nanoseconds; -1 if unknown. */
    private long cpuAt(long nanos) {
        long sincePrevious = Math.max(0, nanos - previousSample);
        long untilLast = Math.max(0, lastSample - nanos);
        if (lastCpu < 0) {
            // The thread has ended.
            return previousCpu < 0 ? -1 : previousCpu + sincePrevious / 2;
        }
        long least = Math.max(Math.max(0, previousCpu), lastCpu - untilLast);
        long most = previousCpu < 0 ? lastCpu : Math.min(lastCpu, previousCpu + sincePrevious);
        return (least + Math.max(least, most)) / 2;
    }

    private long cpuSinceBegin(long nanos) {
        long now = cpuAt(nanos);
        return beginCpu < 0 || now < 0 ? -1 : Math.max(0, Math.min(nanos - begin, now - beginCpu));
    }

    @Override
    MessageHistory.Entry add(long record, long recordNumber, long nanos) {
        int id = (int) (record >>> Ring.ID_SHIFT) & 0xFFFFF;
        if (record < 0) {
            if (depth == MAX_DEPTH) {
                beyond++;
                return null;
            }
            if (begins(id)) {
                message = depth;
                begin = nanos;
                beginCpu = cpuAt(nanos);
                first = recordNumber;
            }
            if (depth == open.length) {
                open = Arrays.copyOf(open, Math.min(MAX_DEPTH, 2 * depth));
            }
            open[depth++] = id;
            return null;
        }
        if (beyond > 0) {
            beyond--;
            return null;
        }
        int k = depth - 1;
        while (k >= 0 && open[k] != id) {
            k--;
        }
        if (k < 0) {
            return null;
        }
        depth = k;
        if (message < depth) {
            return null;
        }
        // The record may be the exit of a call around it, if the message was left by an exception.
        ended.set(MessageRecord.NORMAL, number++, 1, begin, nanos - begin, cpuSinceBegin(nanos), first,
                message == depth ? recordNumber + 1 : recordNumber);
        ended.method(open[message]);
        boolean loop = isLoop();
        message = -1;
        return loop ? null : ended;
    }

    /** Reports whether the call that was taken for a message is one that encloses messages elsewhere. */
    private boolean isLoop() {
        return messages != null && messages.loops.get(open[message]);
    }

    /** Reports whether a call of a method that is entered now is a message. */
    private boolean begins(int id) {
        if (messages == null || !messages.methods.get(id)) {
            return depth == 0 && (messages == null || !messages.loops.get(id));
        }
        if (depth > 0 && !messages.methods.get(open[0])) {
            messages.loops.set(open[0]);
        }
        if (message >= 0 && !messages.methods.get(open[message])) {
            // What was taken for a message encloses this one.
            message = -1;
            number++;
        }
        return message < 0;
    }

    @Override
    void reset() {
        depth = 0;
        beyond = 0;
        message = -1;
    }

    @Override
    long since() {
        return message < 0 || isLoop() ? 0 : begin;
    }

    @Override
    MessageRecord running(long nanos) {
        return new MessageRecord(MessageRecord.RUNNING, number, 1, begin, Math.max(0, nanos - begin),
                cpuSinceBegin(nanos), text(), first, first);
    }

    @Override
    String text() {
        return "method " + open[message];
    }

    @Override
    long number() {
        return number;
    }
}
