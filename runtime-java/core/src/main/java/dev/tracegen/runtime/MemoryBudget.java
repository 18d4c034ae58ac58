package dev.tracegen.runtime;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that a recorder may use for rings, for records that wait to be written, and for objects of threads. All
 * of them take from one budget before they allocate and give back what they release, so that the recorder needs no
 * more than the app allows, however many threads there are. Safe for concurrent use. No method waits or allocates.
 */
final class MemoryBudget {
    /**
     * The greatest budget if none is set: on a JVM, and on Android, where all that the runtime has must fit 4 MB. Five
     * eighths of it hold a ring of 262,144 records.
     */
    private static final long MOST_JVM = 64L << 20;
    private static final long MOST_ANDROID = 7L << 19;

    /** The share of the heap if no budget is set. */
    private static final int HEAP_SHARE = 16;

    /** How many bytes of what was copied may wait for the writer. For the delivery it is half of that. */
    private static final long QUEUE_BYTES = 16L << 20;

    /** How long nothing is taken after the heap had no memory: an app that needs its last bytes must get them. */
    private static final long PAUSE_NANOS = 1000000000L;

    private final AtomicLong used = new AtomicLong();
    private volatile long bytes;
    private volatile boolean pausing;
    private volatile long pauseBegin;

    /** Creates a budget. */
    MemoryBudget(long bytes) {
        this.bytes = bytes;
    }

    /** Returns how many bytes options allow. */
    static long bytes(RecorderOptions options) {
        return options.memory != 0 ? options.memory
                : defaultBytes(Runtime.getRuntime().maxMemory(), Host.isAndroid());
    }

    /** Returns the size of the budget if none is set, for a heap of so many bytes. */
    static long defaultBytes(long maxHeap, boolean android) {
        long most = android ? MOST_ANDROID : MOST_JVM;
        return Math.max(RecorderOptions.LEAST_MEMORY, Math.min(most, maxHeap / HEAP_SHARE));
    }

    /** Changes the size. What was taken before stays taken. */
    void resize(long value) {
        bytes = value;
    }

    /** Returns the size in bytes. */
    long bytes() {
        return bytes;
    }

    /** Returns how many bytes of what was copied may wait for the writer. */
    long queueBytes() {
        return Math.min(QUEUE_BYTES, bytes / 4);
    }

    /** Returns how many bytes are taken. */
    long used() {
        return used.get();
    }

    /**
     * Takes memory, to be called before it is allocated.
     *
     * @return false, and nothing is taken, if there is not so much left
     */
    boolean take(long n) {
        return takeBelow(n, bytes);
    }

    /**
     * As {@link #take}, for memory that is useful and not necessary: it leaves a part of the budget to others.
     *
     * @param most how many bytes of the budget may be taken afterwards
     */
    boolean takeBelow(long n, long most) {
        if (pausing) {
            if (System.nanoTime() - pauseBegin < PAUSE_NANOS) {
                return false;
            }
            pausing = false;
        }
        for (;;) {
            long before = used.get();
            if (n > Math.min(most, bytes) - before) {
                return false;
            }
            if (used.compareAndSet(before, before + n)) {
                return true;
            }
        }
    }

    /** Takes memory that is needed in any case. The budget may be exceeded. */
    void takeAlways(long n) {
        used.addAndGet(n);
    }

    /** Returns memory to the budget. To be called as often as it was taken, with the same number of bytes. */
    void give(long n) {
        used.addAndGet(-n);
    }

    /** Reports that the heap had no memory. Nothing can be taken for a second from now on. */
    void heapIsFull() {
        pauseBegin = System.nanoTime();
        pausing = true;
    }
}
