package dev.tracegen.runtime;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Which composables a thread has executed: when, for how long, between which of its records, and what of their
 * parameters was dirty. The thread notes it, and the sampler takes it.
 *
 * <p>An exception that leaves a composable skips the end of its execution. Those of its callers are then noted as if
 * they were the inner ones' ends, or never end; {@link ThreadTrace#messageNumber} shows that on a thread with messages.
 */
final class Compositions {
    /** How many numbers an execution has: begin, duration, first record, records, composable, dirty bits. */
    static final int WORDS = 6;
    private static final int PAIRS = WORDS / 2;
    private static final long[] NONE = new long[0];

    /** How many composables may be open. */
    private static final int MOST_OPEN = 1024;
    private static final int OPEN_WORDS = 4;

    /** How many executions wait to see whether the message of a thread becomes a stall. */
    private static final int MOST_KEPT = 4096;

    private final ThreadTrace trace;
    private final PairBuffers pairs;

    // Used by the thread, but for texts, which is replaced when it grows.
    private final Map<String, Integer> numbers = new HashMap<String, Integer>();
    private volatile String[] texts = new String[64];
    private long[] open = new long[32 * OPEN_WORDS];
    private int depth;
    private long message;

    /** How many executions found no room. Written by the thread. */
    private volatile long lost;

    // For the sampler. What it keeps are executions of messages that may become stalls.
    private long takenLost;
    private long keptLost;
    private long[] kept = NONE;
    private long keptFrom;

    Compositions(ThreadTrace trace, Rings rings) {
        this.trace = trace;
        this.pairs = new PairBuffers(rings);
    }

    /** Notes that a composable begins to be executed. On the thread only. */
    void begin(String text, int dirty1, int dirty2, long nanos) {
        if (message != trace.messageNumber() || depth == MOST_OPEN) {
            message = trace.messageNumber();
            depth = 0;
        }
        if (depth * OPEN_WORDS == open.length) {
            open = Arrays.copyOf(open, 2 * open.length);
        }
        int at = depth * OPEN_WORDS;
        open[at] = nanos;
        open[at + 1] = trace.nextRecord();
        open[at + 2] = number(text);
        open[at + 3] = (long) dirty1 << 32 | dirty2 & 0xFFFFFFFFL;
        depth++;
    }

    /** Notes that the innermost composable was executed. On the thread only. */
    void end(long nanos) {
        if (depth == 0) {
            return; // recording began meanwhile
        }
        depth--;
        if (!pairs.hasRoom(PAIRS)) {
            lost++;
            return;
        }
        int at = depth * OPEN_WORDS;
        pairs.set(0, open[at], nanos - open[at]);
        pairs.set(1, open[at + 1], trace.nextRecord() - open[at + 1]);
        pairs.set(2, open[at + 2], open[at + 3]);
        pairs.put(PAIRS);
    }

    private int number(String text) {
        Integer number = numbers.get(text);
        if (number == null) {
            number = numbers.size();
            String[] all = texts;
            if (number == all.length) {
                all = Arrays.copyOf(all, 2 * all.length);
            }
            all[number] = text;
            texts = all;
            numbers.put(text, number);
        }
        return number;
    }

    /** Returns the text by which Compose's compiler names a composable. On any thread that got its number. */
    String text(int number) {
        return texts[number];
    }

    /**
     * Takes what was noted since the last call of this. On the sampler's thread only.
     *
     * @return {@link #WORDS} numbers for each execution, the one that ended first is the first
     */
    long[] take() {
        long[] all = pairs.take();
        return all == null ? NONE : all;
    }

    /** Returns how many executions were lost since the last call of this. On the sampler's thread only. */
    long takeLost() {
        long n = lost + keptLost;
        long since = n - takenLost;
        takenLost = n;
        return since;
    }

    /**
     * Keeps what was noted, but not what is of messages that had ended before the last call of this: those that became
     * stalls have been reported since. On the sampler's thread only.
     */
    void keep() {
        kept = from(kept, keptFrom);
        keptFrom = trace.messageRecord();
        add();
    }

    private void add() {
        long[] more = take();
        int n = kept.length;
        int fit = Math.min(MOST_KEPT * WORDS - n, more.length);
        keptLost += (more.length - fit) / WORDS;
        kept = Arrays.copyOf(kept, n + fit);
        System.arraycopy(more, 0, kept, n, fit);
    }

    /** Takes the executions between two records, and forgets the older ones. On the sampler's thread only. */
    long[] take(long record, long end) {
        add();
        long[] all = from(kept, record);
        kept = from(all, end);
        return Arrays.copyOf(all, all.length - kept.length);
    }

    /** Returns the executions that begin with a record or behind it. Those of a message are together. */
    private static long[] from(long[] all, long record) {
        int k = 0;
        while (k < all.length && all[k + 2] < record) {
            k += WORDS;
        }
        return k == 0 ? all : Arrays.copyOfRange(all, k, all.length);
    }

    /** Returns the memory to the budget. To be called once, when the thread notes nothing more. */
    void give() {
        pairs.give();
    }
}
