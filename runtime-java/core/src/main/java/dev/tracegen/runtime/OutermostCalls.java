package dev.tracegen.runtime;

/**
 * Finds the outermost calls of a thread that has no messages, in its records as they are taken from the ring. Exits that
 * are missing are told by an exit further out, as in {@link CallTree}; an outermost call that itself never exits goes on
 * for ever, for nobody can know better: instrument with {@code --exits exact} where that matters.
 *
 * <p>How long a call was on a processor nobody asks when it begins and ends, which would cost every call. It follows from
 * looks at the thread, one before the records are taken each time: between two looks the thread's time goes on no faster
 * than the clock and not back, and the middle of what that leaves is taken. So it is wrong by half the time between two
 * looks at most, at either end.
 */
final class OutermostCalls {
    /** Deeper calls are counted and not remembered: a program that recurses without end must not fill the memory. */
    private static final int MAX_DEPTH = 1 << 14;

    private final int[] open = new int[MAX_DEPTH];
    private int depth;
    private long beyond;
    private long begin;
    private long beginCpu;
    private long first;
    private long number;

    // The last two looks; a thread's first one is taken to follow upon its start.
    private long previousSample;
    private long previousCpu = -1;
    private long lastSample;
    private long lastCpu = -1;

    /**
     * A look at the thread.
     *
     * @param nanos when, after the records that are taken next
     * @param cpuNanos how long it has been on a processor, -1 if not known
     */
    void sampleCpu(long nanos, long cpuNanos) {
        previousSample = lastSample;
        previousCpu = lastCpu;
        lastSample = nanos;
        lastCpu = cpuNanos;
    }

    /** How long the thread had been on a processor at some time between the last two looks; -1 if not known. */
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

    /**
     * Takes one record.
     *
     * @param recordNumber the record's number
     * @param nanos its time
     * @return the message that ended with it, else null
     */
    MessageRecord add(long record, long recordNumber, long nanos) {
        int id = (int) (record >>> Ring.ID_SHIFT) & 0xFFFFF;
        if (record < 0) {
            if (depth == MAX_DEPTH) {
                beyond++;
                return null;
            }
            if (depth == 0) {
                begin = nanos;
                beginCpu = cpuAt(nanos);
                first = recordNumber;
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
        if (depth > 0) {
            return null;
        }
        return new MessageRecord(MessageRecord.NORMAL, number++, 1, begin, nanos - begin, cpuSinceBegin(nanos),
                "method " + id, first, recordNumber + 1);
    }

    /** Records were lost: nobody knows which calls are open now. */
    void reset() {
        depth = 0;
        beyond = 0;
    }

    /** When the open outermost call began, 0 if none is open. */
    long since() {
        return depth == 0 ? 0 : begin;
    }

    /** The call that is open. */
    MessageRecord running(long nanos) {
        return new MessageRecord(MessageRecord.RUNNING, number, 1, begin, Math.max(0, nanos - begin), cpuSinceBegin(nanos),
                "method " + open[0], first, first);
    }

    /** The number of the outermost call that is open or comes next. */
    long number() {
        return number;
    }
}
