package dev.tracegen.runtime;

/**
 * Finds the outermost calls of a thread that has no messages, in its records as they are taken from the ring. Exits that
 * are missing are told by an exit further out, as in {@link CallTree}; an outermost call that itself never exits goes on
 * for ever, for nobody can know better: instrument with {@code --exits exact} where that matters.
 */
final class OutermostCalls {
    /** Deeper calls are counted and not remembered: a program that recurses without end must not fill the memory. */
    private static final int MAX_DEPTH = 1 << 14;

    private final int[] open = new int[MAX_DEPTH];
    private int depth;
    private long beyond;
    private long begin;
    private long first;
    private long number;

    /**
     * Takes one record.
     *
     * @param number the record's number
     * @param nanos its time
     * @return the message that ended with it, else null
     */
    MessageRecord take(long record, long recordNumber, long nanos) {
        int id = (int) (record >>> Ring.ID_SHIFT) & 0xFFFFF;
        if (record < 0) {
            if (depth == MAX_DEPTH) {
                beyond++;
                return null;
            }
            if (depth == 0) {
                begin = nanos;
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
        return new MessageRecord(MessageRecord.NORMAL, number++, 1, begin, nanos - begin, -1, "method " + id, first,
                recordNumber + 1);
    }

    /** Records were lost: nobody knows which calls are open now. */
    void forget() {
        depth = 0;
        beyond = 0;
    }

    /** When the open outermost call began, 0 if none is open. */
    long since() {
        return depth == 0 ? 0 : begin;
    }

    /** The call that is open. */
    MessageRecord running(long nanos) {
        return new MessageRecord(MessageRecord.RUNNING, number, 1, begin, Math.max(0, nanos - begin), -1,
                "method " + open[0], first, first);
    }

    /** The number of the outermost call that is open or comes next. */
    long number() {
        return number;
    }
}
