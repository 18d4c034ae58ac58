package dev.tracegen.runtime;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Hands elements over from one role of the recorder to the next one, in their order. One thread adds elements, one
 * other thread takes them. The queue is bounded by the number of its elements and by their bytes, and an element that
 * does not fit is refused. The thread that adds never waits: there is no lock, and to add an element needs no memory.
 *
 * <p><b>Why an element arrives whole.</b> The adding thread stores the element and its size, and then the new value of
 * the volatile field {@link #added}. The taking thread loads that field first, so it sees all that was stored before.
 * In the same way the adding thread uses a slot again only after it has loaded from {@link #removed} that the slot was
 * cleared.
 *
 * <p><b>Why no wake-up is lost.</b> The taking thread sets {@link #waiting} and then looks once more whether there is
 * an element. The adding thread stores the element and then looks at {@link #waiting}. All four are volatile, so at
 * least one of the two sees what the other has done.
 */
final class RoleQueue<E> {
    private final AtomicReferenceArray<E> slots;

    /** The bytes of the element in each slot. Guarded by {@link #added} and {@link #removed}, as the elements are. */
    private final long[] sizes;
    private final AtomicLong bytes = new AtomicLong();
    private final MemoryBudget memory;

    /** How many elements were added and removed so far. Each is written by one thread only. */
    private volatile long added;
    private volatile long removed;

    private volatile boolean waiting;
    private volatile boolean closed;
    private volatile Thread taker;

    /**
     * Creates an empty queue.
     *
     * @param memory the bytes of the elements are taken from it. The budget does not refuse them: the threads that add
     *     elements bound their bytes. It refuses others then
     */
    RoleQueue(int capacity, MemoryBudget memory) {
        this.memory = memory;
        slots = new AtomicReferenceArray<E>(capacity);
        sizes = new long[capacity];
    }

    /**
     * Adds an element if there is a free place for it. On the adding thread only.
     *
     * @return false if the queue has as many elements as it can have
     */
    boolean add(E element, long size) {
        long n = added;
        if (n - removed == slots.length()) {
            return false;
        }
        int slot = (int) (n % slots.length());
        sizes[slot] = size;
        slots.set(slot, element);
        bytes.addAndGet(size);
        memory.takeAlways(size);
        added = n + 1;
        if (waiting) {
            LockSupport.unpark(taker);
        }
        return true;
    }

    /** Returns how many elements may still be added. On the adding thread only: others cannot make it less. */
    int free() {
        return slots.length() - (int) (added - removed);
    }

    /** Returns the bytes of all elements, the one that is in work included. */
    long bytes() {
        return bytes.get();
    }

    /** Returns how many elements were removed so far. If it does not grow, the taking thread makes no progress. */
    long removed() {
        return removed;
    }

    boolean isEmpty() {
        return added == removed;
    }

    boolean isClosed() {
        return closed;
    }

    /** Says that no element will be added. To be called behind the last {@link #add}. */
    void close() {
        closed = true;
        LockSupport.unpark(taker);
    }

    /**
     * Returns the first element and leaves it in the queue, so that its bytes count while it is in work. Waits until
     * there is one. On the taking thread only.
     *
     * @return null if the queue is closed and empty
     */
    E next() {
        taker = Thread.currentThread();
        for (;;) {
            // Loaded before the number of elements: nothing is added behind close.
            boolean last = closed;
            if (added != removed) {
                return slots.get((int) (removed % slots.length()));
            }
            if (last) {
                return null;
            }
            waiting = true;
            if (added == removed && !closed) {
                LockSupport.park(this);
            }
            waiting = false;
            // An interrupted thread does not park, and an app may interrupt all threads of a group.
            Thread.interrupted();
        }
    }

    /** Removes the first element. On the taking thread only. */
    void remove() {
        long n = removed;
        int slot = (int) (n % slots.length());
        slots.set(slot, null);
        bytes.addAndGet(-sizes[slot]);
        memory.give(sizes[slot]);
        removed = n + 1;
    }
}
