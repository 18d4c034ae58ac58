package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets methods go that are switched off and are called very often all the same. {@link AppMethodBeat} then returns at
 * once from each call of them: no state of a thread is looked at, and the call is not counted. So it costs next to
 * nothing, and the JIT inlines it. After a time the method comes back for a moment, so that it is seen whether it still
 * floods. Used by the sampler only, as {@link Gate}, and on a JVM only, see {@link Edition}.
 *
 * <p><b>What takes time stays visible.</b> Once the JIT inlines a method and what it calls, no stack shows it, because
 * a thread stops for one only where compiled code lets it. A reader looks for the methods that take the time. So if
 * its threads spend a fifth of their time in a method, its entries call {@link FastPath#enter} while a stack is taken,
 * see {@link #show}. That returns at once, and a thread can stop there. Where hundreds of threads run, it may take
 * seconds until one does, and all others pay for it. So the methods are visible for a short time only.
 *
 * <p><b>Why no call is recorded by half.</b> Threads see at different times that a method is let go or has come back,
 * and their calls of it are not counted in between. So a method goes through these states:
 * <ol>
 * <li>{@link #COUNTED}: it is off. It may leave when no recorded call of it is open on any thread, and each thread has
 * carried out that it is off, so none begins. The records that were copied show it.
 * <li>{@link #LEAVING}: each thread takes all calls that are open for ones whose exits are left out, see
 * {@link ThreadGate#apply}, and counts those that begin from here on.
 * <li>{@link #GONE}: when each thread has done so, the byte of the method in {@link Edition#LET_GO} is set. An exit
 * that does not see it is left out by the thread's state, one that sees it, by the byte.
 * <li>{@link #RETURNING}: each thread is asked to do the same as when the method left. Then the byte is 0 again. The
 * method is still off, and counted. An exit of a call whose entry was not counted is left out, as there is no call that
 * was entered since; it is outermost, so it comes last.
 * </ol>
 * From there the method is let go again if it still floods, or is switched on when it is quiet, as any other.
 *
 * <p>A thread that waits, or makes no records for a while, is not waited for. If it was interrupted just before a
 * record of the method for so long, that call has an entry and no exit, as one that an exception has ended.
 */
final class LetGo {
    private static final int COUNTED = 0;
    private static final int LEAVING = 1;
    private static final int GONE = 2;
    private static final int RETURNING = 3;

    /** How often methods are looked at. A method must flood at so many looks in turn, see {@link #EXTREME_CALLS}. */
    private static final long LOOK_NANOS = 50000000L;
    private static final int LOOKS = 2;

    /** With so many calls a second one look is enough. */
    private static final long EXTREME_CALLS = 1000000;

    /** How often it must be seen whether a method is open, see {@link #look}. */
    private static final int LEAST_OBSERVED = 4;

    /** The longest time until a method comes back. It is doubled each time. With very many calls it begins higher. */
    private static final int MOST_TIMES_LONGER = 64;
    private static final int EXTREME_TIMES_LONGER = 6;

    /** A thread without a record for so long is not waited for. */
    private static final long QUIET_NANOS = 2000000000L;

    private static final long SECOND = 1000000000L;

    /** How long compiled code may take until it sees that methods are to be visible: a thousand rounds of a loop. */
    private static final long SHOW_NANOS = 50000;

    /** How long methods stay visible, if they are called meanwhile, and after how many calls it is looked at that. */
    private static final long MOST_SHOW_NANOS = 10000000;
    private static final int SHOWN_CALLS = 1024;

    /** In {@link Edition#LET_GO}: the method is let go, and its entries are to be seen in stacks. */
    static final byte SEEN = 1;

    /** In {@link Edition#LET_GO}: the method is let go. */
    static final byte UNSEEN = 2;

    /** How many methods are to be seen in stacks. */
    private static volatile int seen;

    /** When methods were made visible, and about how many calls of them there were since recording began. */
    private static long shownNanos;
    private static int shownCalls;

    /** For how long slow stacks are put off for letting methods go, see {@link #isDue}. */
    private static final long DUE_NANOS = 10000000000L;

    /** Since when a method has waited to be let go; 0 if none waits. */
    private static long waitingSince;

    private final Recorder recorder;
    private final RecorderOptions options;
    private long lookedNanos;
    private List<Integer> changes = new ArrayList<Integer>();

    /** What is known of a method. */
    static final class State {
        private int phase;
        private int floods;
        private long callsBefore;
        private long goneNanos;
        private int timesLonger = 1;
        private int observed;
        private int open;

        /** Calls that were left out and counted. */
        long calls;

        /** Whether the next request is to ask threads to take all open calls for ones that are left out. */
        boolean asks;

        /** The number of the last request that did. */
        int reset;

        /** Takes over whether the method is open on a thread that calls it. */
        void observe(boolean isOpen) {
            observed++;
            open += isOpen ? 1 : 0;
        }

        /** Reports whether a method takes less than a share of the time of its threads. */
        private boolean takesLittle(int share) {
            return share == 0 || (long) open * share < observed;
        }

        private boolean observed(int share) {
            return share == 0 || observed >= LEAST_OBSERVED;
        }

        /** To be called when a request was published, with the number of the last one that asked threads. */
        void asked(int number) {
            asks = false;
            reset = number;
        }

        /** Reports whether the calls of the method say whether it is quiet. */
        boolean counted() {
            return phase == COUNTED;
        }
    }

    /** Which methods were let go, and less than 0, which have come back. Immutable. */
    static final class Change {
        final long nanos;
        final int[] ids;

        Change(long nanos, int[] ids) {
            this.nanos = nanos;
            this.ids = ids;
        }
    }

    LetGo(Recorder recorder, RecorderOptions options) {
        this.recorder = recorder;
        this.options = options;
        this.lookedNanos = options.platform.nanoTime();
    }

    /** Takes all methods for ones that are not let go. */
    static void forget() {
        Arrays.fill(Edition.LET_GO, (byte) 0);
        AppMethodBeat.shown = 0;
        seen = 0;
        waitingSince = 0;
    }

    /** Reports whether a method is let go. */
    static boolean has(int id) {
        return Edition.LETS_GO && Edition.LET_GO[id & AppMethodBeat.ID_MASK] != 0;
    }

    /**
     * Makes methods that are let go visible, as the stack of a thread is to be taken. The sampler calls it, and then
     * {@link #hide} with what it returns.
     */
    static boolean show(Thread.State state) {
        if (seen == 0 || state != Thread.State.RUNNABLE) {
            return false;
        }
        shownNanos = System.nanoTime();
        AppMethodBeat.shown = SEEN;
        LockSupport.parkNanos(SHOW_NANOS);
        return true;
    }

    /** Returns false if methods were not visible until now, so that the stack may show the caller of one. */
    static boolean hide(boolean shown) {
        boolean whole = !shown || AppMethodBeat.shown == SEEN;
        AppMethodBeat.shown = 0;
        return whole;
    }

    /** To be called for each call of a visible method. Hides them if they are visible for too long. */
    static void entered() {
        if ((++shownCalls & SHOWN_CALLS - 1) == 0 && System.nanoTime() - shownNanos > MOST_SHOW_NANOS) {
            AppMethodBeat.shown = 0;
        }
    }

    /**
     * Reports whether a method waits to be let go. Where hundreds of threads flood, each stack of one takes as long as
     * it waits for a processor, tens of milliseconds, and meanwhile the flood goes on.
     */
    static boolean isDue(long now) {
        return waitingSince != 0 && now - waitingSince < DUE_NANOS;
    }

    /** Reports whether methods are to be looked at now. */
    boolean due(long now) {
        return now - lookedNanos >= LOOK_NANOS;
    }

    /**
     * Moves methods to their next states.
     *
     * @param last the last request of the gate; null if there was none
     * @return whether another request is needed
     */
    boolean look(List<Gate.Method> methods, Gate.Request last, long now) {
        long elapsed = Math.max(1, now - lookedNanos);
        lookedNanos = now;
        if (last == null) {
            return false;
        }
        noteRecords(now);
        Gate.Method next = nextToReturn(methods, now);
        boolean changed = false;
        boolean waits = false;
        for (int slot = 1; slot <= methods.size(); slot++) {
            Gate.Method m = methods.get(slot - 1);
            State s = m.letGo;
            double calls = m.off() ? (double) (s.calls - s.callsBefore) * SECOND / elapsed : 0;
            s.callsBefore = s.calls;
            s.floods = calls >= EXTREME_CALLS ? LOOKS : calls >= options.letGoCalls ? s.floods + 1 : 0;
            if (s.phase == COUNTED && s.floods >= LOOKS && s.observed(options.letGoShare)
                    && last.isOff(slot) && noneOpen(m, now)) {
                s.phase = LEAVING;
                s.timesLonger = Math.max(s.timesLonger, calls > Gate.TOO_MANY ? EXTREME_TIMES_LONGER : 1);
                s.asks = true;
                changed = true;
            } else if (s.phase == LEAVING && !m.wanted()) {
                s.phase = COUNTED;
                changed = true;
            } else if (s.phase == LEAVING && !s.asks && carriedOut(m, now)) {
                s.phase = GONE;
                s.goneNanos = now;
                mark(m.id, s.takesLittle(options.letGoShare) ? UNSEEN : SEEN);
                changes.add(m.id);
            } else if (s.phase == GONE && (!m.wanted() || m == next)) {
                s.phase = RETURNING;
                s.timesLonger = Math.min(MOST_TIMES_LONGER, 2 * s.timesLonger);
                s.asks = true;
                changed = true;
            } else if (s.phase == RETURNING && !s.asks) {
                // The request published since the last look is carried out before each call that gets this far.
                s.phase = COUNTED;
                s.floods = 0;
                s.observed = 0;
                s.open = 0;
                mark(m.id, (byte) 0);
                changes.add(-m.id);
                changed |= !m.wanted();
            }
            waits |= s.phase == LEAVING || s.phase == COUNTED && s.floods > 0;
        }
        waitingSince = !waits ? 0 : waitingSince == 0 ? now : waitingSince;
        return changed;
    }

    /**
     * Returns the method that is let go and has been due longest to come back; null if none is. One at each look: each
     * floods while it is back.
     */
    private Gate.Method nextToReturn(List<Gate.Method> methods, long now) {
        Gate.Method next = null;
        long longest = -1;
        for (Gate.Method m : methods) {
            long late = now - m.letGo.goneNanos - m.letGo.timesLonger * options.letGoNanos;
            if (m.letGo.phase == GONE && late > longest) {
                next = m;
                longest = late;
            }
        }
        return next;
    }

    private static void mark(int id, byte how) {
        seen += (how == SEEN ? 1 : 0) - (Edition.LET_GO[id] == SEEN ? 1 : 0);
        Edition.LET_GO[id] = how;
    }

    /** Notes when each thread has made its last record. */
    private void noteRecords(long now) {
        for (ThreadTrace t : recorder.threads.all()) {
            Ring ring = t.existingRing();
            long records = ring == null ? 0 : ring.sequence();
            if (records != t.sampled.lastRecord) {
                t.sampled.lastRecord = records;
                t.sampled.lastRecordNanos = now;
            }
        }
    }

    /** Reports whether it is known that no recorded call of a method is open on any thread, and that none begins. */
    private boolean noneOpen(Gate.Method m, long now) {
        for (ThreadTrace t : recorder.threads.all()) {
            Ring ring = t.existingRing();
            if (ring == null) {
                continue;
            }
            // First: what a thread records that has waited until now, it records without the method.
            boolean rests = rests(t, now);
            boolean copied = t.sampled.copiedRequest >= m.offRequest
                    || rests && t.sampled.nextToDrain == ring.sequence() && !ring.windowIsOpen();
            if (!copied || t.sampled.openCalls != null && t.sampled.openCalls.mayHave(m.id)) {
                return false;
            }
        }
        return true;
    }

    /** Reports whether all threads take the open calls of a method for ones whose exits are left out. */
    private boolean carriedOut(Gate.Method m, long now) {
        for (ThreadTrace t : recorder.threads.all()) {
            Ring ring = t.existingRing();
            Gate.Request applied = ring == null ? null : ring.applied;
            if (ring != null && (applied == null || applied.number < m.letGo.reset) && !rests(t, now)) {
                return false;
            }
        }
        return true;
    }

    /** Reports whether a thread makes no record now, and carries out a request before its next one. */
    private static boolean rests(ThreadTrace t, long now) {
        return waits(t) || now - t.sampled.lastRecordNanos >= QUIET_NANOS;
    }

    private static boolean waits(ThreadTrace t) {
        Thread.State state = t.thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    /** Returns the changes since the last call of this; null if there are none. */
    Change takeChanges(long nanos) {
        if (changes.isEmpty()) {
            return null;
        }
        int[] ids = new int[changes.size()];
        for (int k = 0; k < ids.length; k++) {
            ids[k] = changes.get(k);
        }
        changes = new ArrayList<Integer>();
        return new Change(nanos, ids);
    }
}
