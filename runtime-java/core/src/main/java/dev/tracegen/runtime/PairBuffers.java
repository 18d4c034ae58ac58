package dev.tracegen.runtime;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Pairs of numbers that a thread puts and the sampler takes, without locks. The first buffer is small. One that is full
 * is followed by a larger one, as long as there is memory.
 */
final class PairBuffers {
    /** How many pairs the first buffer has, and how many times more the next one. */
    private static final int FIRST = 64;
    private static final int GROWTH = 8;

    /** Half as many as the records of a ring: a suspension has about twice as many of these as marks. */
    private static final int MOST = 1 << 16;

    private static final int PAIR_BYTES = 16;

    private final Rings rings;

    /** Null if there was no memory yet. The first one is used by the sampler, the last one by the thread. */
    private volatile Buffer first;
    private Buffer last;

    /** The thread fills it, then the next. */
    private static final class Buffer {
        final long[] pairs;
        final AtomicLong put = new AtomicLong();
        final AtomicLong taken = new AtomicLong();
        volatile Buffer next;

        Buffer(int capacity) {
            pairs = new long[2 * capacity];
        }

        int room() {
            return pairs.length / 2 - (int) (put.get() - taken.get());
        }

        void set(int k, long a, long b) {
            int at = 2 * (int) (put.get() + k) & pairs.length - 1;
            pairs[at] = a;
            pairs[at + 1] = b;
        }

        int bytes() {
            return pairs.length / 2 * PAIR_BYTES;
        }
    }

    PairBuffers(Rings rings) {
        this.rings = rings;
    }

    /** Reports whether there is room for n pairs, and makes some. On the thread only. */
    boolean hasRoom(int n) {
        Buffer b = last;
        if (b != null && b.room() >= n) {
            return true;
        }
        int capacity = b == null ? FIRST : Math.min(MOST, GROWTH * b.pairs.length / 2);
        if (b != null && capacity == b.pairs.length / 2 || !rings.takeMarks(capacity * PAIR_BYTES, b == null)) {
            return false;
        }
        Buffer larger = null;
        try {
            larger = new Buffer(capacity);
        } catch (OutOfMemoryError e) {
            rings.memory.heapIsFull();
            return false;
        } finally {
            if (larger == null) {
                rings.memory.give(capacity * PAIR_BYTES);
            }
        }
        last = larger;
        if (b == null) {
            first = larger;
        } else {
            b.next = larger;
        }
        return true;
    }

    /** Sets pair number k of those that are put next, for which there must be room. On the thread only. */
    void set(int k, long a, long b) {
        last.set(k, a, b);
    }

    /** Puts n pairs that were set: the sampler takes all or none. Wakes it when half is full. On the thread only. */
    void put(int n) {
        Buffer b = last;
        int room = b.room();
        b.put.lazySet(b.put.get() + n);
        int half = b.pairs.length / 4;
        if (room > half && room - n <= half) {
            rings.wake();
        }
    }

    /**
     * Takes the pairs that were put since the last call of this. On the sampler's thread only.
     *
     * @return null if there are none
     */
    long[] take() {
        long[] all = null;
        for (Buffer b = first; b != null;) {
            // Before the count: if there is a next one, nothing more comes into this one.
            Buffer next = b.next;
            all = append(all, b);
            if (next == null) {
                break;
            }
            rings.memory.give(b.bytes());
            first = next;
            b = next;
        }
        return all;
    }

    private static long[] append(long[] all, Buffer b) {
        long from = b.taken.get();
        int n = (int) (b.put.get() - from);
        if (n == 0) {
            return all;
        }
        int had = all == null ? 0 : all.length;
        long[] more = all == null ? new long[2 * n] : java.util.Arrays.copyOf(all, had + 2 * n);
        for (int k = 0; k < 2 * n; k++) {
            more[had + k] = b.pairs[(int) (2 * from + k) & b.pairs.length - 1];
        }
        b.taken.set(from + n);
        return more;
    }

    /** Returns the memory to the budget. To be called once, when the thread puts no more and all were taken. */
    void give() {
        Buffer b = first;
        if (b != null) {
            rings.memory.give(b.bytes());
        }
    }
}
