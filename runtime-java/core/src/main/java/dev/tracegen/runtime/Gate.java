package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Switches methods off while the program runs, and on again. It finds the methods that flood the recorder by
 * {@link CallCounts}, takes over those that {@link Flood} has found, and takes a list from outside, see
 * {@link Recorder#setGate}. Except for the nested classes it is used by
 * the sampler only. {@link ThreadGate} says how a thread carries out what it publishes.
 */
final class Gate {
    /** The greatest number of methods that were ever off. A slot is a char that is not 0. */
    private static final int MAX_SLOTS = 60000;

    /** How many records a second are too many, and how many remain after methods were switched off. */
    static final long TOO_MANY = 1000000;
    static final long ENOUGH = 300000;

    /** How long records are counted before methods are switched off. */
    static final long DECISION_NANOS = 200000000L;

    private static final long SECOND = 1000000000L;

    /** A method with fewer calls a second is never switched off, because that would save nothing. */
    private static final long FLOODING_CALLS = 10000;

    /** A method is quiet while it has fewer calls a second. */
    private static final long QUIET_CALLS = 1000;

    /** Methods are switched off in this order: those whose calls take less than this, in nanoseconds. */
    static final long[] SHORT_CALLS = {2000, 20000, 100000};

    /** How many quiet seconds must pass before a method is switched on again. Doubled each time it was. */
    private static final int QUIET_SECONDS = 2;
    private static final int MAX_QUIET_SECONDS = 64;

    /** The methods of {@link Recorder#setGate}; null if it was not called. */
    static volatile int[] fromOutside;

    private final Recorder recorder;
    private final boolean automatic;
    private final LetGo letGo;
    private final CallCounts counts = new CallCounts();
    private char[] slots = new char[0];

    /** Whether other threads may read the slots. */
    private boolean shared;

    /** The last request that was published or taken over; null if there was none. */
    private Request known;
    private List<Method> methods = new ArrayList<Method>();
    private int[] outside;
    private boolean changed;
    private long decidedNanos;
    private long collectedNanos;
    private long records;

    /** A method that was switched off at least once. */
    static final class Method {
        final int id;
        final LetGo.State letGo = new LetGo.State();

        /** The number of the request that switched it off. */
        int offRequest;
        boolean flooding;
        boolean outside;
        int quietSeconds;
        int wantedQuietSeconds = QUIET_SECONDS;

        /** Calls that were left out and are not written yet, and those of the current second. */
        long calls;
        long callsBefore;

        Method(int id) {
            this.id = id;
        }

        /** Reports whether the method is to be off, but for what {@link LetGo} does with it. */
        boolean wanted() {
            return flooding || outside;
        }

        /** Reports whether the method is off. It stays off until threads count its calls again. */
        boolean off() {
            return wanted() || !letGo.counted();
        }
    }

    /** Which methods are to be off. Immutable. */
    static final class Request {
        final char[] slots;
        final boolean[] off;
        final int[] ids;

        /** The number of this request, and by slot, that of the last one that made all open calls ones to leave out. */
        final int number;
        final int[] reset;

        Request(char[] slots, boolean[] off, int[] ids, int number, int[] reset) {
            this.slots = slots;
            this.off = off;
            this.ids = ids;
            this.number = number;
            this.reset = reset;
        }

        /**
         * Returns a request that switches more methods off.
         *
         * @param last the request before, null if there was none
         */
        static Request off(Request last, int[] more) {
            char[] slots = last == null ? new char[0] : last.slots;
            int length = slots.length;
            for (int id : more) {
                length = Math.max(length, id + 1);
            }
            slots = Arrays.copyOf(slots, length);
            int n = last == null ? 1 : last.off.length;
            for (int id : more) {
                if (slots[id] == 0 && n <= MAX_SLOTS) {
                    slots[id] = (char) n++;
                }
            }
            boolean[] off = last == null ? new boolean[n] : Arrays.copyOf(last.off, n);
            int[] ids = last == null ? new int[n] : Arrays.copyOf(last.ids, n);
            for (int id : more) {
                if (slots[id] != 0) {
                    off[slots[id]] = true;
                    ids[slots[id]] = id;
                }
            }
            return new Request(slots, off, ids, last == null ? 1 : last.number + 1,
                    last == null ? new int[n] : Arrays.copyOf(last.reset, n));
        }

        /** Reports whether the method of a slot is off. */
        boolean isOff(int slot) {
            return slot < off.length && off[slot];
        }
    }

    /** What a thread has changed when it carried out a request. */
    static final class Change {
        /** The change of the thread before this one. Set to null when that was written. */
        volatile Change before;
        final long nanos;

        /** The number of the first record behind the change. */
        final long number;

        /** The IDs of the methods that are off now, and less than 0, of those that are on. */
        final int[] ids;

        Change(Change before, long nanos, long number, int[] ids) {
            this.before = before;
            this.nanos = nanos;
            this.number = number;
            this.ids = ids;
        }
    }

    /** How many calls were left out, by method. Immutable. */
    static final class LeftOut {
        final long nanos;
        final int[] ids;
        final long[] calls;

        LeftOut(long nanos, int[] ids, long[] calls) {
            this.nanos = nanos;
            this.ids = ids;
            this.calls = calls;
        }
    }

    Gate(Recorder recorder, RecorderOptions options) {
        this.recorder = recorder;
        this.automatic = options.gate && options.everyRecord;
        LetGo.forget();
        this.letGo = Edition.LETS_GO && automatic && options.letGo ? new LetGo(recorder, options) : null;
        this.decidedNanos = options.platform.nanoTime();
        this.collectedNanos = decidedNanos;
    }

    /** Counts the calls in records that were copied from a thread's ring. */
    void count(ThreadTrace t, RecordCopy copy, long tickNanos) {
        if (automatic) {
            countRecords(t);
            counts.add(t, copy, tickNanos);
        }
    }

    /**
     * Counts the records that a thread has made, whether they are copied yet or not: where very many threads run, the
     * sampler has its turn too seldom to copy them all, and it must know in time that there are too many. A mark counts
     * as a record: of a program that only suspends and resumes, they cost as much.
     */
    private void countRecords(ThreadTrace t) {
        Ring ring = t.existingRing();
        if (ring != null) {
            SamplerState s = t.sampled;
            long made = ring.sequence();
            records += Math.max(0, made - s.made);
            s.made = Math.max(made, s.made);
            int marks = Marks.made(t);
            records += marks - s.marks;
            s.marks = marks;
            long leftOut = ring.leftOut();
            records += 2 * Math.max(0, leftOut - s.leftOutInWindow);
            s.leftOutInWindow = leftOut;
        }
    }

    /** Counts the calls that a window left out. To be called behind the window's records. */
    void count(ThreadTrace t, Window.Closed window, long tickNanos) {
        records += 2 * Math.max(0, window.calls - t.sampled.leftOutInWindow);
        t.sampled.leftOutInWindow = 0;
        if (t.sampled.openCalls != null) {
            t.sampled.openCalls.skip((window.end - window.begin) * tickNanos);
        }
    }

    /** Decides which methods are on and off, and publishes the decision. To be called often. */
    void decide(long now) {
        takeOver(now);
        int[] list = fromOutside;
        if (list != outside) {
            outside = list;
            setOutside(list);
        }
        if (automatic && now - decidedNanos >= DECISION_NANOS) {
            for (ThreadTrace t : recorder.threads.all()) {
                countRecords(t);
            }
            long perSecond = (long) ((double) records * SECOND / (now - decidedNanos));
            if (perSecond > TOO_MANY) {
                switchOff(perSecond);
            }
            counts.clear();
            records = 0;
            decidedNanos = now;
        }
        if (now - collectedNanos >= SECOND) {
            switchOn(now - collectedNanos);
            collectedNanos = now;
        }
        if (changed) {
            publish();
        }
    }

    /** Decides which methods are let go. To be called often. */
    void letGo(long now) {
        if (letGo == null || !letGo.due(now)) {
            return;
        }
        takeOver(now);
        for (ThreadTrace t : recorder.threads.all()) {
            observe(t);
            collect(t);
        }
        changed |= letGo.look(methods, known, now);
        if (changed) {
            publish();
        }
    }

    /** Returns the methods that were let go and have come back since the last call of this; null if there are none. */
    LetGo.Change takeLetGo(long nanos) {
        return letGo == null ? null : letGo.takeChanges(nanos);
    }

    private void setOutside(int[] ids) {
        for (Method m : methods) {
            m.outside = false;
        }
        for (int id : ids == null ? new int[0] : ids) {
            Method m = method(id);
            if (m != null) {
                m.outside = true;
            }
        }
        changed |= !methods.isEmpty();
    }

    /**
     * Switches methods off until the rest is not too much: first those with the shortest calls, of these first those
     * with the most calls.
     */
    private void switchOff(long perSecond) {
        double scale = (double) perSecond / Math.max(1, 2 * counts.total());
        long rest = perSecond;
        int[] ids = counts.mostCalled();
        for (long shorter : SHORT_CALLS) {
            for (int id : ids) {
                double calls = counts.calls(id) * scale;
                if (rest <= ENOUGH || calls < FLOODING_CALLS) {
                    break;
                }
                Method m = counts.meanNanos(id) < shorter ? method(id) : null;
                if (m != null && !m.off()) {
                    m.flooding = true;
                    m.quietSeconds = 0;
                    changed = true;
                    rest -= (long) (2 * calls);
                }
            }
        }
    }

    /** Switches the methods on that were quiet for long enough, and repeats what a thread could not do yet. */
    private void switchOn(long elapsed) {
        for (ThreadTrace t : recorder.threads.all()) {
            collect(t);
            changed |= isBehind(t.existingRing());
        }
        for (Method m : methods) {
            boolean quiet = m.letGo.counted() && (m.calls - m.callsBefore) * SECOND / elapsed < QUIET_CALLS;
            m.quietSeconds = quiet ? m.quietSeconds + 1 : 0;
            if (m.flooding && m.quietSeconds >= m.wantedQuietSeconds) {
                m.flooding = false;
                m.wantedQuietSeconds = Math.min(MAX_QUIET_SECONDS, 2 * m.wantedQuietSeconds);
                changed = true;
            }
            m.callsBefore = m.calls;
        }
    }

    /** Reports whether a method is off on a thread that should be on. */
    private boolean isBehind(Ring ring) {
        long[] states = ring == null ? new long[0] : ring.states;
        for (int slot = 1; slot < states.length && slot <= numbered(); slot++) {
            if ((int) states[slot] != 0 && !methods.get(slot - 1).off()) {
                return true;
            }
        }
        return false;
    }

    /** Adds the calls that a thread has left out since the last call of this. */
    void collect(ThreadTrace t) {
        Ring ring = t.existingRing();
        long[] states = ring == null ? new long[0] : ring.states;
        if (t.sampled.leftOut.length < states.length) {
            t.sampled.leftOut = Arrays.copyOf(t.sampled.leftOut, states.length);
        }
        for (int slot = 1; slot < states.length && slot <= numbered(); slot++) {
            int calls = (int) (states[slot] >>> 32);
            Method m = methods.get(slot - 1);
            long more = calls - t.sampled.leftOut[slot] & 0xFFFFFFFFL;
            m.calls += more;
            m.letGo.calls += more;
            t.sampled.leftOut[slot] = calls;
        }
    }

    /** Sees which methods that are off are open on a thread now, of those that it has called since the last look. */
    void observe(ThreadTrace t) {
        Ring ring = t.existingRing();
        if (letGo == null || ring == null) {
            return;
        }
        long[] states = ring.states;
        int[] before = t.sampled.leftOut;
        for (int slot = 1; slot < Math.min(states.length, before.length) && slot <= numbered(); slot++) {
            long state = states[slot];
            if ((int) (state >>> 32) != before[slot]) {
                methods.get(slot - 1).letGo.observe((int) state > ThreadGate.OFF);
            }
        }
    }

    /**
     * Returns how many calls were left out since the last call of this.
     *
     * @return null if none were
     */
    LeftOut takeLeftOut(long nanos) {
        int[] ids = new int[methods.size()];
        long[] calls = new long[ids.length];
        int n = 0;
        for (Method m : methods) {
            if (m.calls > 0) {
                ids[n] = m.id;
                calls[n++] = m.calls;
            }
            m.callsBefore -= m.calls;
            m.calls = 0;
        }
        return n == 0 ? null : new LeftOut(nanos, Arrays.copyOf(ids, n), Arrays.copyOf(calls, n));
    }

    /** Returns the method of an ID; null if it cannot be switched off. */
    private Method method(int id) {
        if (id < 1 || id >= AppMethodBeat.METHOD_ID_DISPATCH) {
            return null;
        }
        if (id >= slots.length) {
            slots = Arrays.copyOf(slots, Math.min(AppMethodBeat.METHOD_ID_DISPATCH, id + 1 + id / 4));
            shared = false;
        }
        if (slots[id] == 0) {
            if (methods.size() == MAX_SLOTS) {
                return null;
            }
            slots = shared ? slots.clone() : slots;
            shared = false;
            methods.add(new Method(id));
            slots[id] = (char) methods.size();
        }
        return methods.get(slots[id] - 1);
    }

    /** Returns how many methods have slots that are published: threads may have given the others away. */
    private int numbered() {
        return known == null ? 0 : known.off.length - 1;
    }

    /** Takes over the methods that threads have switched off by themselves. */
    private void takeOver(long now) {
        Request last = recorder.fastPath.gateRequest();
        if (last == known) {
            return;
        }
        int numbered = numbered();
        // The slots of these are taken if the thread was faster. No thread has seen them.
        List<Method> own = new ArrayList<Method>(methods.subList(numbered, methods.size()));
        methods.subList(numbered, methods.size()).clear();
        slots = last.slots;
        shared = true;
        for (int slot = 1; slot < last.off.length; slot++) {
            if (slot > numbered) {
                methods.add(new Method(last.ids[slot]));
            }
            Method m = methods.get(slot - 1);
            if (last.off[slot] && (slot > numbered || !known.off[slot])) {
                m.flooding = true;
                m.quietSeconds = 0;
                m.offRequest = last.number;
            }
        }
        known = last;
        for (Method before : own) {
            Method m = method(before.id);
            if (m != null) {
                m.flooding |= before.flooding;
                m.outside |= before.outside;
            }
        }
        // What was counted so far is the flood.
        counts.clear();
        records = 0;
        decidedNanos = now;
    }

    private void publish() {
        Request last = known;
        int number = last == null ? 1 : last.number + 1;
        boolean[] off = new boolean[methods.size() + 1];
        int[] ids = new int[off.length];
        int[] reset = new int[off.length];
        for (int k = 0; k < methods.size(); k++) {
            Method m = methods.get(k);
            off[k + 1] = m.off();
            ids[k + 1] = m.id;
            reset[k + 1] = m.letGo.asks ? number : m.letGo.reset;
            if (m.off() && (last == null || k + 1 >= last.off.length || !last.off[k + 1])) {
                m.offRequest = number;
            }
        }
        Request next = new Request(slots, off, ids, number, reset);
        shared = true;
        // If a thread was faster, the next call of decide takes over what it has switched off, and publishes all.
        if (recorder.fastPath.request(last, next)) {
            known = next;
            changed = false;
            for (int k = 0; k < methods.size(); k++) {
                methods.get(k).letGo.asked(reset[k + 1]);
            }
        }
    }
}
