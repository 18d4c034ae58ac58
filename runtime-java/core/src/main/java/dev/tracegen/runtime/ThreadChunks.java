package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Writes the chunks of threads and their calls: THREADS, RECORDS, GATE, WINDOW, LEFT_OUT, COROUTINES, COMPOSITIONS. */
final class ThreadChunks {
    static final int DELTA = 2;

    /** The greatest number of records in one chunk. A reader must hold that many, and a cut file loses that many. */
    static final int CHUNK_RECORDS = 1 << 16;

    /** For so many threads it is counted how many records could not be written. */
    private static final int MAX_UNWRITTEN = 4096;

    private final RecordingWriter out;
    private final RecorderOptions options;
    private final ChunkBytes chunk;

    /** The indexes of the threads that are in this file. It refers to no thread: there may be very many. */
    private final BitSet threads = new BitSet();

    /** The changes of gates that are not in the file, by thread. */
    private final Map<Integer, UnwrittenGate> gates = new HashMap<Integer, UnwrittenGate>();

    /** How many records are not in the recording since the last ones of the thread that are, if all are to be. */
    private final Map<Integer, Long> unwrittenRecords = new HashMap<Integer, Long>();

    /** The methods that are let go by the changes that were written. */
    private final Set<Integer> gone = new TreeSet<Integer>();

    // Of the file, and of the group that is being made.
    private long records;
    private long overwritten;
    private long groupRecords;
    private long groupOverwritten;
    private final List<ThreadTrace> groupThreads = new ArrayList<ThreadTrace>();

    /**
     * Methods of a thread whose change is not in the file, since the first such change. The thread's set of methods
     * that are off says which are off now. No records between these changes are in the file.
     */
    private static final class UnwrittenGate {
        final long nanos;
        final long number;
        final Set<Integer> ids = new TreeSet<Integer>();

        UnwrittenGate(long nanos, long number) {
            this.nanos = nanos;
            this.number = number;
        }
    }

    ThreadChunks(RecordingWriter out) {
        this.out = out;
        this.options = out.options;
        this.chunk = out.chunk;
    }

    /** Forgets what is in the file, because the next one refers to nothing in it. */
    void beginFile() {
        threads.clear();
        records = 0;
        overwritten = 0;
    }

    void beginGroup() {
        groupRecords = 0;
        groupOverwritten = 0;
        groupThreads.clear();
    }

    /** Notes that the group is in the file. */
    void written() {
        records += groupRecords;
        overwritten += groupOverwritten;
        for (ThreadTrace t : groupThreads) {
            threads.set(t.index);
            gates.remove(t.index);
        }
    }

    /** Returns the number of records that are in the file. */
    long records() {
        return records;
    }

    /** Returns how many records the file says are missing. */
    long overwritten() {
        return overwritten;
    }

    /** Puts a thread before the chunk, with the methods that are off, as far as the file does not have that yet. */
    void introduce(ThreadTrace trace) {
        if (groupThreads.contains(trace)) {
            return;
        }
        UnwrittenGate g = gates.get(trace.index);
        int[] ids = {};
        if (!threads.get(trace.index)) {
            out.small.size = 0;
            out.small.uv(1).uv(trace.index).sv(trace.thread.getId()).str(out.texts.thread(trace.name()))
                    .u8(trace.main ? 1 : 0);
            out.add(RecordingWriter.THREADS, 0, out.small);
            ids = ids(offOf(trace), offOf(trace));
        } else if (g != null) {
            ids = ids(g.ids, offOf(trace));
        } else {
            return;
        }
        groupThreads.add(trace);
        if (ids.length > 0) {
            gateTo(out.small, trace, g == null ? options.platform.nanoTime() : g.nanos, g == null ? 0 : g.number, ids);
            out.add(RecordingWriter.GATE, 0, out.small);
        }
    }

    private static Set<Integer> offOf(ThreadTrace trace) {
        return trace.off == null ? Collections.<Integer>emptySet() : trace.off;
    }

    /** Returns methods as a change has them: negative if they are on. */
    private static int[] ids(Set<Integer> methods, Set<Integer> off) {
        int[] ids = new int[methods.size()];
        int n = 0;
        for (int id : methods) {
            ids[n++] = off.contains(id) ? id : -id;
        }
        return ids;
    }

    /**
     * Writes records in as many RECORDS chunks as are needed.
     *
     * @return false if some could not be written
     */
    boolean records(ThreadTrace trace, RecordCopy copy) {
        if (copy.marks != null) {
            coroutines(trace, copy.marks);
        }
        boolean all = true;
        int from = 0;
        long lost = copy.overwritten;
        do {
            int to = Math.min(copy.records.length, from + CHUNK_RECORDS);
            all &= records(trace, copy, from, to, lost);
            lost = 0;
            from = to;
        } while (from < copy.records.length);
        return all;
    }

    private boolean records(ThreadTrace trace, RecordCopy copy, int from, int to, long overwrittenBefore) {
        Long unwritten = unwrittenRecords.get(trace.index);
        long lost = overwrittenBefore + (unwritten == null ? 0 : unwritten);
        if (out.begin(trace)) {
            chunk.uv(trace.index).uv(copy.firstSequence + from).uv(lost).uv(to - from);
            chunk.records(copy.records, from, to);
            if (trace.writtenMarks > 0) {
                chunk.uv(trace.writtenMarks);
            }
            groupRecords = to - from;
            groupOverwritten = lost;
            if (out.end(RecordingWriter.RECORDS, DELTA)) {
                unwrittenRecords.remove(trace.index);
                return true;
            }
        }
        if (options.everyRecord && unwrittenRecords.size() < MAX_UNWRITTEN) {
            // The next records of the thread do not follow those that are in the file. A reader finds that by their
            // numbers, too.
            unwrittenRecords.put(trace.index, lost + to - from);
        }
        return false;
    }

    /** Writes which methods a thread has switched on and off. To be called before its records behind that. */
    void gate(ThreadTrace trace, Gate.Change change) {
        // Before the change: what was off until now belongs to the begin of a file.
        boolean possible = out.begun() && out.begin(trace);
        for (int id : change.ids) {
            if (id > 0) {
                if (trace.off == null) {
                    trace.off = new TreeSet<Integer>();
                }
                trace.off.add(id);
            } else if (trace.off != null) {
                trace.off.remove(-id);
            }
        }
        if (possible) {
            gateTo(chunk, trace, change.nanos, change.number, change.ids);
            possible = out.end(RecordingWriter.GATE, 0);
        }
        if (!possible) {
            UnwrittenGate g = gates.get(trace.index);
            if (g == null) {
                g = new UnwrittenGate(change.nanos, change.number);
                gates.put(trace.index, g);
            }
            for (int id : change.ids) {
                g.ids.add(Math.abs(id));
            }
        }
    }

    private static void gateTo(ChunkBytes to, ThreadTrace trace, long nanos, long number, int[] ids) {
        to.size = 0;
        to.sv(nanos).uv(ids.length);
        for (int id : ids) {
            to.uv(Math.abs(id)).u8(id > 0 ? 1 : 0);
        }
        to.uv(1).uv(trace.index).uv(number);
    }

    /** Writes a window of a thread. To be called before the window's records. */
    void window(ThreadTrace trace, Window.Closed w) {
        if (!out.begin(trace)) {
            return;
        }
        chunk.uv(trace.index).sv(out.baseNanos + w.begin * options.tickNanos)
                .sv(out.baseNanos + w.end * options.tickNanos).uv(w.firstRecord).uv(w.endRecord).uv(w.calls);
        out.end(RecordingWriter.WINDOW, 0);
    }

    /** Writes marks of a thread. To be called before the records that they are about. */
    void coroutines(ThreadTrace trace, long[] marks) {
        long first = trace.writtenMarks;
        for (int k = 1; k < marks.length; k += 2) {
            trace.writtenMarks += marks[k] >>> 52 == Marks.LOST ? marks[k] : 1;
        }
        if (!out.begin(trace)) {
            return;
        }
        chunk.uv(trace.index).uv(first).uv(marks.length / 2);
        long before = 0;
        for (int k = 0; k < marks.length; k += 2) {
            int kind = (int) (marks[k + 1] >>> 52);
            chunk.sv(marks[k] - before).u8(kind).uv(kind == Marks.LOST ? marks[k + 1] : marks[k + 1] >>> 32 & 0xFFFFF)
                    .u32(kind == Marks.LOST ? 0 : (int) marks[k + 1]);
            before = marks[k];
        }
        out.end(RecordingWriter.COROUTINES, 0);
    }

    /** Writes which composables a thread executed, and how many more it did. */
    void compositions(ThreadTrace trace, long[] executions, long lost) {
        if (!out.begin(trace)) {
            return;
        }
        chunk.uv(trace.index).uv(lost).uv(executions.length / Compositions.WORDS);
        long begin = 0;
        long record = 0;
        for (int k = 0; k < executions.length; k += Compositions.WORDS) {
            long dirty = executions[k + 5];
            chunk.uv(out.string(trace.existingCompositions().text((int) executions[k + 4]))).u32((int) (dirty >> 32))
                    .u32((int) dirty).sv(executions[k] - begin).uv(executions[k + 1]).sv(executions[k + 2] - record)
                    .uv(executions[k + 3]);
            begin = executions[k];
            record = executions[k + 2];
        }
        out.end(RecordingWriter.COMPOSITIONS, 0);
    }

    /** Writes how many calls of methods were left out by the gate since the last such chunk. */
    void leftOut(long nanos, int[] ids, long[] calls) {
        if (!out.begun() || !out.begin()) {
            return;
        }
        chunk.sv(nanos).uv(ids.length);
        for (int k = 0; k < ids.length; k++) {
            chunk.uv(ids[k]).uv(calls[k]);
        }
        out.end(RecordingWriter.LEFT_OUT, 0);
    }

    /** Writes which methods were let go and have come back. That alone begins no file. */
    void letGo(LetGo.Change change) {
        // A file that is begun for this chunk has the methods before the change at its begin.
        boolean begun = out.begun() && out.begin();
        for (int id : change.ids) {
            if (id > 0) {
                gone.add(id);
            } else {
                gone.remove(-id);
            }
        }
        if (begun) {
            letGoTo(chunk, change.nanos, change.ids);
            out.end(RecordingWriter.LET_GO, 0);
        }
    }

    /** Adds the methods that are let go to a file that begins. */
    void letGoBefore() {
        if (!gone.isEmpty()) {
            letGoTo(out.small, options.platform.nanoTime(), ids(gone, gone));
            out.add(RecordingWriter.LET_GO, 0, out.small);
        }
    }

    private static void letGoTo(ChunkBytes to, long nanos, int[] ids) {
        to.size = 0;
        to.sv(nanos).uv(ids.length);
        for (int id : ids) {
            to.uv(Math.abs(id)).u8(id > 0 ? 1 : 0);
        }
    }
}
