package dev.tracegen.runtime;

import java.util.ArrayList;

/**
 * Copies records from the rings and hands them over to the writer, with what a reader needs before them. What finds no
 * room stays in its ring until the next check. What the rings then do is said in {@link Ring}. Used by the sampler
 * only.
 */
final class Drain {
    private final Recorder recorder;
    private final Ticker ticker;
    private final RecorderOptions options;
    private final Writer writer;
    private final WriterQueue out;
    private final Gate gate;
    private final StallWatch stalls;
    private final SteadySamples steady;

    /** The thread whose records found no room at the last check, null if there was room for all. */
    private ThreadTrace next;

    /** Whether there was no room for something of the thread whose records are handed over. */
    private boolean refused;

    Drain(Recorder recorder, Ticker ticker, Writer writer, Gate gate, StallWatch stalls,
            SteadySamples steady) {
        this.recorder = recorder;
        this.ticker = ticker;
        this.options = recorder.options();
        this.writer = writer;
        this.out = writer.queue;
        this.gate = gate;
        this.stalls = stalls;
        this.steady = steady;
    }

    /** Reports whether there was no room for all at the last check. */
    boolean isBehind() {
        return next != null;
    }

    /**
     * Hands over the new records of all threads, or the changes of their gates if records are written only of stalls.
     * If there is no room for all, the next call begins with the thread that came too late.
     *
     * @param last whether recording has stopped, so that a window that is closed is the last one
     * @return how many records there were
     */
    long all(boolean last) {
        if (!writer.opened()) {
            return 0;
        }
        ThreadTrace begin = next;
        next = null;
        long n = 0;
        boolean reached = begin == null;
        for (ThreadTrace t : recorder.threads.all()) {
            reached |= t == begin;
            n += reached ? of(t, last) : 0;
            gate.observe(t);
            // Also here: with hundreds of threads that flood, the end of this loop is seconds away.
            long now = recorder.platform().nanoTime();
            gate.decide(now);
            gate.letGo(now);
        }
        for (ThreadTrace t : recorder.threads.all()) {
            if (t == begin || begin == null) {
                break;
            }
            n += of(t, last);
        }
        return n;
    }

    /**
     * Hands over the new records of a thread and those of its window, as far as there is room.
     *
     * @param last as for {@link #all}
     * @return how many records there were
     */
    long of(ThreadTrace t, boolean last) {
        t.sampled.drained = false;
        refused = false;
        Ring ring = t.existingRing();
        long n = 0;
        if (ring != null && options.everyRecord) {
            n = copyAll(t, ring, last);
        } else if (ring != null) {
            writeGate(t, ring.lastChange);
            if (t.existingMarks() != null) {
                t.existingMarks().keep();
            }
            if (t.existingCompositions() != null) {
                t.existingCompositions().keep();
            }
        }
        t.sampled.drained = !refused;
        return n;
    }

    /** Reports whether there is room to hand over more of a thread. If not, it is the first one at the next check. */
    private boolean hasRoom(ThreadTrace t) {
        if (out.hasRoom()) {
            return true;
        }
        next = next == null ? t : next;
        refused = true;
        return false;
    }

    private long copyAll(ThreadTrace t, Ring ring, boolean last) {
        long n = copyRecords(t, ring, last);
        // Once more for the records of the window. While the thread runs, it may open another one at once.
        for (int k = 0; (k < 1 || t.sampled.ended || last) && hasRoom(t); k++) {
            Window.Closed window = ring.closeWindow(t.sampled.ended || last);
            if (window == null) {
                break;
            }
            out.window(t, window);
            n += 1 + copyRecords(t, ring, last);
            gate.count(t, window, ticker.tickNanos());
        }
        return n;
    }

    private long copyRecords(ThreadTrace t, Ring ring, boolean last) {
        SamplerState s = t.sampled;
        long n = 0;
        Gate.Request applied = ring.applied;
        // The ring may have replaced the one that was copied before.
        ring.copied(s.nextToDrain);
        long end = ring.sequence();
        ring.order();
        // Behind the two lines above: every change before a record that is copied now is seen.
        if (!writeGate(t, ring.lastChange) || t.existingMarks() != null && !writeMarks(t, s.ended || last)) {
            return 0;
        }
        if (t.existingCompositions() != null && hasRoom(t)) {
            out.compositions(t, t.existingCompositions().take(), t.existingCompositions().takeLost());
        }
        boolean outermost = options.callMessages != null && !s.hasMessages();
        if (outermost && (s.nextToDrain < end || s.outermost != null && s.outermost.since() != 0)) {
            if (s.outermost == null) {
                s.outermost = options.callMessages.ofThread();
            }
            s.outermost.sampleCpu(options.platform.nanoTime(), options.platform.threadCpuNanos(t.thread));
        }
        long before = -1;
        // Not again and again for a record whose store is not seen yet.
        while (s.nextToDrain < end && s.nextToDrain != before && hasRoom(t)) {
            before = s.nextToDrain;
            // Also here, because a thread that puts records fast is copied from all the time.
            steady.take();
            long first = Math.max(s.nextToDrain, ring.oldest());
            RecordCopy copy = ring.copy(s.nextToDrain, Math.min(end, first + chunkRecords()));
            steady.handOver();
            out.records(t, copy);
            // Behind the line above, which fails if there is no memory: then the same records are copied again.
            s.nextToDrain = copy.firstSequence + copy.records.length;
            n += copy.records.length + copy.overwritten;
            ring.copied(s.nextToDrain);
            gate.count(t, copy, ticker.tickNanos());
            if (outermost) {
                addOutermostCalls(t, copy);
            }
        }
        // A window may have records from before that.
        if (applied != null && s.nextToDrain >= end && !ring.windowIsOpen()) {
            s.copiedRequest = applied.number;
        }
        return n;
    }

    /**
     * Hands over the marks of a thread.
     *
     * @param last as for {@link Marks#take}
     * @return false if there is no room
     */
    private boolean writeMarks(ThreadTrace t, boolean last) {
        if (!hasRoom(t)) {
            return false;
        }
        long[] marks = t.existingMarks().take(last);
        if (marks != null) {
            out.coroutines(t, marks);
        }
        return true;
    }

    /** Returns how many records are copied at once: at most a quarter of what may wait for the writer. */
    private long chunkRecords() {
        return Math.min(ThreadChunks.CHUNK_RECORDS, recorder.rings().memory.queueBytes() / 32);
    }

    /**
     * Hands over the changes of a thread's gate since the last call of this, the oldest first.
     *
     * @return false if there is no room for all, so that records behind them must wait
     */
    private boolean writeGate(ThreadTrace t, Gate.Change last) {
        SamplerState s = t.sampled;
        if (last == null || last == s.writtenChange) {
            return true;
        }
        ArrayList<Gate.Change> changes = new ArrayList<Gate.Change>();
        for (Gate.Change c = last; c != null && c != s.writtenChange; c = c.before) {
            changes.add(c);
        }
        for (int k = changes.size() - 1; k >= 0; k--) {
            if (!hasRoom(t)) {
                return false;
            }
            Gate.Change c = changes.get(k);
            out.gate(t, c);
            s.writtenChange = c;
            c.before = null;
        }
        return true;
    }

    private void addOutermostCalls(ThreadTrace t, RecordCopy copy) {
        CallMessages.OfThread outermost = t.sampled.outermost;
        if (copy.overwritten > 0) {
            outermost.reset();
        }
        for (int k = 0; k < copy.records.length; k++) {
            long r = copy.records[k];
            long nanos = ticker.baseNanos() + (r & Ring.TIME_MASK) * ticker.tickNanos();
            MessageHistory.Entry m = outermost.add(r, copy.firstSequence + k, nanos);
            if (m == null) {
                continue;
            }
            if (m.wallNanos() >= options.slowNanos(MessageRecord.NORMAL)) {
                stalls.report(new EndedStall(t, m.record(), t.messageHistory().snapshot()));
            }
            t.messageHistory().add(m);
        }
    }
}
