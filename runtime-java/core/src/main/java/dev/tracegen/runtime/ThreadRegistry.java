package dev.tracegen.runtime;

import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/** The threads of a recorder. A thread is added when it is first seen, and removed when it has ended. */
final class ThreadRegistry {
    /** So many virtual threads that are not recorded are distinguished, by the last bits of their IDs. */
    private static final int MOST_NOT_RECORDED = 1 << 20;

    private final Recorder recorder;
    private final Rings rings;
    private final ThreadTrace main;
    private final ConcurrentHashMap<Thread, ThreadTrace> traces = new ConcurrentHashMap<Thread, ThreadTrace>();
    private final ThreadLocal<ThreadTrace> own = new ThreadLocal<ThreadTrace>();
    private final AtomicInteger nextIndex = new AtomicInteger();

    /** A bit for each virtual thread that is not recorded; null as long as none made a call. */
    private volatile AtomicLongArray notRecorded;

    /** Creates a registry that has the main thread. */
    ThreadRegistry(Recorder recorder, Rings rings, Thread mainThread) {
        this.recorder = recorder;
        this.rings = rings;
        rings.takeThreadAlways();
        main = new ThreadTrace(recorder, mainThread, nextIndex.getAndIncrement(), true, true);
        traces.put(mainThread, main);
    }

    ThreadTrace main() {
        return main;
    }

    Collection<ThreadTrace> all() {
        return traces.values();
    }

    /** Returns the trace of a thread, null if there is none. */
    ThreadTrace existing(Thread thread) {
        return traces.get(thread);
    }

    /** Returns the trace of a thread without choosing the thread. */
    ThreadTrace of(Thread thread) {
        ThreadTrace trace = traces.get(thread);
        if (trace == null) {
            rings.takeThreadAlways();
            trace = create(thread);
        }
        return trace;
    }

    /** Creates the trace of a thread. Its memory was taken. */
    private ThreadTrace create(Thread thread) {
        RecorderOptions options = recorder.options();
        boolean all = options.threads == RecorderOptions.THREADS_ALL && !(thread instanceof RecorderThread)
                && (options.virtualThreads || !VirtualThreads.contains(thread));
        ThreadTrace created = null;
        ThreadTrace other = null;
        try {
            created = new ThreadTrace(recorder, thread, nextIndex.getAndIncrement(), false, all);
            other = traces.putIfAbsent(thread, created);
            return other == null ? created : other;
        } finally {
            if (created == null || other != null) {
                rings.giveThread(null);
            }
        }
    }

    /**
     * Returns the trace of the calling thread, which is not the main thread.
     *
     * @return null if the thread is not recorded, or if there is no memory
     */
    ThreadTrace current(Thread thread) {
        RecorderOptions options = recorder.options();
        int threads = options.threads;
        if (threads == RecorderOptions.THREADS_MAIN) {
            return null;
        }
        ThreadTrace trace = own.get();
        if (trace != null) {
            return trace;
        }
        if (thread instanceof RecorderThread) {
            return null;
        }
        if (threads == RecorderOptions.THREADS_ALL && !options.virtualThreads && VirtualThreads.contains(thread)) {
            countNotRecorded(thread.getId());
            return null;
        }
        trace = traces.get(thread);
        if (trace == null && threads == RecorderOptions.THREADS_CHOSEN) {
            return null;
        }
        if (trace == null && !rings.takeThread()) {
            recorder.dropped().add(Dropped.RECORDS, 1);
            return null;
        }
        trace = trace == null ? create(thread) : trace;
        own.set(trace);
        return trace;
    }

    /** Counts a virtual thread that is not recorded, at its first call. */
    void countNotRecorded(long id) {
        AtomicLongArray seen = notRecorded;
        if (seen == null) {
            synchronized (this) {
                if (notRecorded == null) {
                    notRecorded = new AtomicLongArray(MOST_NOT_RECORDED / Long.SIZE);
                }
                seen = notRecorded;
            }
        }
        int word = (int) (id % MOST_NOT_RECORDED) / Long.SIZE;
        for (long bits = seen.get(word); (bits >>> id & 1) == 0; bits = seen.get(word)) {
            if (seen.compareAndSet(word, bits, bits | 1L << id)) {
                recorder.dropped().add(Dropped.VIRTUAL_THREADS, 1);
            }
        }
    }

    /** Removes the trace of a thread that has ended. */
    void forget(ThreadTrace trace) {
        if (traces.remove(trace.thread, trace)) {
            countDropped(trace);
            rings.giveThread(trace.existingRing());
            if (trace.existingMarks() != null) {
                trace.existingMarks().give();
            }
            if (trace.existingCompositions() != null) {
                trace.existingCompositions().give();
            }
        }
    }

    /**
     * Counts the records of a thread that never had a ring as dropped. If there is a ring, its first number says how
     * many were dropped before it. To be called once for each thread, when it records nothing any more.
     */
    void countDropped(ThreadTrace trace) {
        if (trace.existingRing() == null) {
            recorder.dropped().add(Dropped.RECORDS, trace.droppedRecords());
        }
    }
}
