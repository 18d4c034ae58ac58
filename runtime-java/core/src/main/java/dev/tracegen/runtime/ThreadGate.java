package dev.tracegen.runtime;

import java.util.Arrays;

/**
 * Carries out on a thread which methods {@link Gate} switches off and on, and leaves their calls out. All is called by
 * the owner of a ring, but for {@link #exceeds}.
 *
 * <p><b>Why no call is recorded by half.</b> The sampler only publishes a {@link Gate.Request}. Each thread
 * carries it out itself, between two records, so there is no race between a change and the records of a thread. Each
 * thread has a state for each method that was ever switched off:
 * <ul>
 * <li>0: the method is on. Its entries and exits are recorded.
 * <li>n &gt; 0: the method is off, and n-1 calls of it are open whose entries were left out. An entry is left out and
 * adds 1. An exit is left out and takes 1 away if n &gt; 1. If n = 1 it is recorded.
 * </ul>
 * The calls of a method on a thread are nested: an exit belongs to the innermost open call. The calls that were
 * entered since the method was switched off lie within those that were open then. So if n &gt; 1, an exit belongs to
 * an entry that was left out, and if n = 1, to one that was recorded. A method is switched on only while n = 1, that
 * is, when every open call of it is a recorded one. Therefore an exit is recorded exactly if its entry was, and the
 * records of a thread are those of a program in which some calls are not instrumented. A reader needs to know nothing
 * of the gate to build the calls. It needs to know only which methods may be missing.
 *
 * <p>If exits are missing, because a method ended by an exception and is not instrumented with exact exits, n stays
 * too great. Then the method stays off on that thread, and exits of calls that were open when it was switched off are
 * left out. A reader sees these like any missing exit. If n reaches 2^31 it is not counted further.
 *
 * <p>Methods that are off may be let go, see {@link LetGo}. Their calls do not get here. When such a method leaves and
 * comes back, a {@link Gate.Request} says that all open calls are ones whose exits are left out: n is set to 1, and
 * from then on the recorded calls that are open are counted too, in {@link Ring#entered}. An exit that would be
 * recorded is left out if that count is 0: it belongs to a call from before. These are outermost, so their exits come
 * last.
 */
final class ThreadGate {
    /** The state of a method that is off and has no open call whose entry was left out. */
    static final int OFF = 1;

    /** In the upper half of a state: one call that was left out. */
    static final long CALL = 1L << 32;

    /**
     * A thread yields after so many calls of a method that were left out, for the first 2^20 of them. Where hundreds of
     * threads flood, neither the sampler, which lets the method go, nor the JIT has its turn for seconds otherwise.
     */
    private static final int YIELD_CALLS = 256;
    private static final int YIELD_BITS = 20;

    private ThreadGate() {
    }

    /**
     * Carries out a request on a thread, as far as that is possible now: a method stays off while a call of it is open
     * whose entry was left out. On the thread that owns the ring only.
     *
     * <p>All that can fail, because no stack or memory is left, comes first. Then nothing is changed, and the next
     * call tries again. What can fail behind that may be repeated.
     */
    static void apply(Gate.Request request, Ring ring, Ring placeholder, long nanos) {
        int n = request.off.length;
        long[] states = ring.states;
        states = states.length < n ? Arrays.copyOf(states, n) : states;
        int before = ring.applied == null ? 0 : ring.applied.number;
        int[] entered = ring.entered;
        entered = Edition.LETS_GO && entered.length < n ? Arrays.copyOf(entered, n) : entered;
        int[] ids = new int[n];
        int count = 0;
        for (int slot = 1; slot < n; slot++) {
            int state = state(request, states, slot, before);
            if (request.off[slot] && state == 0) {
                ids[count++] = request.ids[slot];
            } else if (!request.off[slot] && state == OFF) {
                ids[count++] = -request.ids[slot];
            }
        }
        Gate.Change change = count == 0 ? ring.lastChange
                : new Gate.Change(ring.lastChange, nanos, ring.sequence(), Arrays.copyOf(ids, count));
        ring.lastChange = change;
        for (int slot = 1; slot < n; slot++) {
            int state = state(request, states, slot, before);
            if (request.off[slot] && state == 0) {
                state = OFF;
            } else if (!request.off[slot] && state == OFF) {
                state = 0;
            }
            states[slot] = states[slot] & ~0xFFFFFFFFL | state & 0xFFFFFFFFL;
            if (request.reset[slot] > before) {
                entered[slot] = 1;
            }
        }
        ring.entered = entered;
        ring.states = states;
        ring.gate = request.slots;
        ring.gateEnd = Math.max(1, request.slots.length);
        if (placeholder != null) {
            placeholder.states = states;
            placeholder.entered = entered;
            placeholder.gate = request.slots;
            placeholder.gateEnd = ring.gateEnd;
        }
        // Before the thread's next record, which a reader must not see without the change.
        ring.order();
        ring.applied = request;
    }

    /** Returns the state of a method, without the open calls if a request that was not carried out yet says so. */
    private static int state(Gate.Request request, long[] states, int slot, int before) {
        int state = (int) states[slot];
        return request.reset[slot] > before && state != 0 ? OFF : state;
    }

    /** Reports whether the state of a method on a thread is a greater one. Below 0 is more than can be counted. */
    static boolean exceeds(Ring ring, int slot, int state) {
        long[] all = ring.states;
        return slot < all.length && ((int) all[slot] > state || (int) all[slot] < 0);
    }

    /**
     * Reports whether the call of a method is left out because its method is switched off, and counts it. The owner of
     * the ring calls it for each entry, and {@link #dropsExit} for each exit, of a method that has a slot.
     */
    static boolean dropsEntry(Ring ring, int slot) {
        long[] all = ring.states;
        if (slot >= all.length) {
            return false;
        }
        long state = all[slot];
        int open = (int) state;
        if (open == 0) {
            int[] entered = ring.entered;
            if (slot < entered.length && entered[slot] > 0 && entered[slot] < Integer.MAX_VALUE) {
                entered[slot]++;
            }
            return false;
        }
        all[slot] = state + (open > 0 ? CALL + 1 : CALL);
        int calls = (int) (state >>> 32) + 1;
        if (calls % YIELD_CALLS == 0 && calls >>> YIELD_BITS == 0) {
            Thread.yield();
        }
        return true;
    }

    /** Reports whether the exit of a method belongs to an entry that was left out. */
    static boolean dropsExit(Ring ring, int slot) {
        long[] all = ring.states;
        if (slot >= all.length) {
            return false;
        }
        long state = all[slot];
        int open = (int) state;
        if (open == 0 || open == OFF) {
            int[] entered = ring.entered;
            if (slot >= entered.length || entered[slot] == 0) {
                return false;
            }
            boolean before = entered[slot] == 1;
            entered[slot] -= before ? 0 : 1;
            return before;
        }
        if (open > 0) {
            all[slot] = state - 1;
        }
        return true;
    }
}
