package dev.tracegen.runtime;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * Decides by the state of a recorder which calls of {@link AppMethodBeat} are recorded there, and records the others
 * that are to be recorded: those of other threads than the main one, and those of the main thread while its time is
 * exact or a gate must be applied.
 */
final class FastPath {
    private static final AtomicReferenceFieldUpdater<FastPath, Gate.Request> REQUEST =
            AtomicReferenceFieldUpdater.newUpdater(FastPath.class, Gate.Request.class, "gateRequest");

    private final Recorder recorder;
    private final Thread mainThread;
    private final ThreadTrace mainTrace;
    private final Ticker ticker;
    private final Ring placeholder;

    /** As the placeholder, but without the gate: every call must come here. */
    private final Ring bare;

    // Written by way of REQUEST. The R8 rules in META-INF/proguard keep the name.
    private volatile Gate.Request gateRequest;

    FastPath(Recorder recorder, ThreadTrace mainTrace, Ticker ticker) {
        this.recorder = recorder;
        this.mainThread = mainTrace.thread;
        this.mainTrace = mainTrace;
        this.ticker = ticker;
        this.placeholder = Ring.placeholder(mainThread);
        this.bare = Ring.placeholder(mainThread);
    }

    /**
     * Records a call of i where methods may be let go. With record the JIT does not inline it. So a thread can be
     * stopped for its stack at each return of this, and the stack shows the method, although it is let go.
     */
    static void enter(int id) {
        if (LetGo.has(id)) {
            LetGo.entered();
        } else {
            route(id, true);
        }
    }

    /** As {@link #enter}, for o. */
    static void leave(int id) {
        route(id, false);
    }

    private static void route(int id, boolean entry) {
        int m = AppMethodBeat.mode;
        if (m < 0) {
            return;
        }
        try {
            Ring ring = AppMethodBeat.fast;
            if (ring == null || ring.owner != Thread.currentThread()) {
                if (m == AppMethodBeat.MAIN_ONLY && ring != null) {
                    return;
                }
                ring = null;
            }
            if (entry) {
                entry(ring, id);
            } else {
                exit(ring, id);
            }
        } catch (Throwable e) {
            // As in AppMethodBeat.i.
        }
    }

    /**
     * Records a call of i that {@link AppMethodBeat} did not handle.
     *
     * @param ring {@link AppMethodBeat#fast}, null if this thread is not its owner
     */
    static void entry(Ring ring, int id) {
        if (ring != null && id > 0 && id < AppMethodBeat.METHOD_ID_DISPATCH) {
            char[] gate = ring.gate;
            // A call for which a placeholder stands is counted in put, unless it is left out.
            if (gate != null && id < gate.length && gate[id] != 0
                    && (ring.rings != null || ThreadGate.exceeds(ring, gate[id], 0))
                    && ThreadGate.dropsEntry(ring, gate[id])) {
                return;
            }
            if (ring.rings != null) {
                ring.put(Ring.ENTRY | (long) id << Ring.ID_SHIFT | ring.now);
                return;
            }
        }
        record(id, Ring.ENTRY);
    }

    /** As {@link #entry}, for o. */
    static void exit(Ring ring, int id) {
        if (ring != null && id > 0 && id < AppMethodBeat.METHOD_ID_DISPATCH) {
            char[] gate = ring.gate;
            if (gate != null && id < gate.length && gate[id] != 0
                    && (ring.rings != null || ThreadGate.exceeds(ring, gate[id], ThreadGate.OFF))
                    && ThreadGate.dropsExit(ring, gate[id])) {
                return;
            }
            if (ring.rings != null) {
                ring.put((long) id << Ring.ID_SHIFT | ring.now);
                return;
            }
        }
        record(id, 0);
    }

    /**
     * Records a call of i or o that {@link AppMethodBeat} did not handle.
     *
     * @param bit {@link Ring#ENTRY} or 0
     */
    static void record(int id, long bit) {
        Recorder r = Recorder.current;
        if (r == null) {
            r = EarlyStart.begin();
        }
        if (r != null && Recorder.status > 0) {
            try {
                r.fastPath.put(id, bit);
            } catch (OutOfMemoryError e) {
                r.rings().memory.heapIsFull();
                r.dropped().add(Dropped.RECORDS, 1);
            }
        }
    }

    private void put(int id, long bit) {
        Thread thread = Thread.currentThread();
        ThreadTrace trace = mainTrace;
        if (thread != mainThread) {
            trace = recorder.threads.current(thread);
            if (trace == null) {
                return;
            }
        }
        if (id < 1 || id > AppMethodBeat.METHOD_ID_DISPATCH) {
            return;
        }
        Ring ring = trace.ring();
        if (ring != null) {
            applyGate(trace, ring);
            char[] gate = ring.gate;
            int slot = gate != null && id < gate.length ? gate[id] : 0;
            if (slot == 0 || !(bit != 0 ? ThreadGate.dropsEntry(ring, slot) : ThreadGate.dropsExit(ring, slot))) {
                if (ticker.exact() || trace.still || id == AppMethodBeat.METHOD_ID_DISPATCH) {
                    ticker.updateTime(ring);
                    trace.still = false;
                }
                ring.put(bit | (long) id << Ring.ID_SHIFT | ring.now);
            }
        } else if (trace.recorded() && recorder.recording()) {
            // Not because recording has been stopped meanwhile: then there is no ring either.
            trace.dropRecord();
        }
    }

    /** Carries out the last request on the calling thread, if it has not. */
    void applyGate(ThreadTrace trace, Ring ring) {
        Gate.Request request = gateRequest;
        if (request != ring.applied) {
            ThreadGate.apply(request, ring, trace == mainTrace ? placeholder : null, recorder.platform().nanoTime());
            if (trace == mainTrace) {
                update();
            }
        }
    }

    /**
     * Publishes which methods are to be off. Each thread carries it out before its next record.
     *
     * @param last the request that this one continues
     * @return false if there is another one since: nothing was published
     */
    boolean request(Gate.Request last, Gate.Request request) {
        if (!REQUEST.compareAndSet(this, last, request)) {
            return false;
        }
        update();
        return true;
    }

    /** Returns the last request, null if there was none. */
    Gate.Request gateRequest() {
        return gateRequest;
    }

    /**
     * Sets {@link AppMethodBeat#mode} and {@link AppMethodBeat#fast} by the current state: they decide which calls are
     * recorded and which way they take.
     */
    synchronized void update() {
        if (Recorder.current != recorder) {
            return;
        }
        AppMethodBeat.mode = wantedMode();
        AppMethodBeat.fast = wantedFast();
    }

    private int wantedMode() {
        return Recorder.status <= 0 ? AppMethodBeat.OFF
                : recorder.options().threads == RecorderOptions.THREADS_MAIN
                ? AppMethodBeat.MAIN_ONLY : AppMethodBeat.CALL_RECORDER;
    }

    private Ring wantedFast() {
        if (Recorder.status <= 0) {
            return null;
        }
        Ring real = mainTrace.existingRing();
        return real == null || real.applied != gateRequest ? bare : ticker.running() ? real : placeholder;
    }

    /**
     * Calls {@link #update} if such a call has failed before, because no stack was left. It takes no lock if there is
     * nothing to do.
     */
    void repair() {
        if (Recorder.current == recorder
                && (AppMethodBeat.mode != wantedMode() || AppMethodBeat.fast != wantedFast())) {
            update();
        }
    }
}
