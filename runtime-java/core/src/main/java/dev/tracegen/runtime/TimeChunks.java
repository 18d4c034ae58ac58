package dev.tracegen.runtime;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.TimeZone;

/** Writes the chunks of clocks, of times in which nothing could be measured, and of CPU time. */
final class TimeChunks {
    /** How many times in which the process did not run are at the begin of a file. */
    private static final int MAX_SUSPENDED = 64;

    private final RecordingWriter out;
    private final ChunkBytes chunk;

    /** The last times in which the process did not run. */
    private final ArrayDeque<Suspensions.Time> last = new ArrayDeque<Suspensions.Time>();

    TimeChunks(RecordingWriter out) {
        this.out = out;
        this.chunk = out.chunk;
    }

    /** Adds what each file begins with. */
    void beginFile() {
        clockTo(out.small);
        out.add(RecordingWriter.CLOCK, 0, out.small);
        if (!last.isEmpty()) {
            suspendedTo(out.small, last);
            out.add(RecordingWriter.SUSPENDED, 0, out.small);
        }
    }

    /** Writes a CLOCK chunk: the current times of all clocks. */
    void clock() {
        if (out.begin()) {
            clockTo(chunk);
            out.end(RecordingWriter.CLOCK, 0);
        }
    }

    private void clockTo(ChunkBytes to) {
        Platform p = out.options.platform;
        to.size = 0;
        to.sv(p.nanoTime()).sv(p.elapsedRealtimeNanos()).sv(p.wallMillis()).sv(out.baseNanos)
                .str(TimeZone.getDefault().getID());
    }

    /**
     * Writes a LATE chunk: when the clock of the records did not move although it had to. That alone begins no file.
     *
     * @param intervals begin and end of each time in turn
     * @return false if it is not written now; then it is to be written later
     */
    boolean late(long[] intervals) {
        if (!out.begun() || !out.open()) {
            return false;
        }
        out.begin();
        chunk.uv(intervals.length / 2);
        for (long nanos : intervals) {
            chunk.sv(nanos);
        }
        return out.end(RecordingWriter.LATE, 0);
    }

    /**
     * Writes times in which the process did not run, and the current times of all clocks: the difference of two CLOCK
     * chunks shows how long the device slept. To be called before records and stalls behind these times. That alone
     * begins no file. The last times are at the begin of each file, because a stall in it may have begun before.
     */
    void suspended(List<Suspensions.Time> found) {
        for (Suspensions.Time t : found) {
            if (last.size() == MAX_SUSPENDED) {
                last.removeFirst();
            }
            last.addLast(t);
        }
        // A file that is begun for this chunk has the times at its begin.
        boolean open = out.isOpen();
        if (out.begun() && out.begin() && open) {
            suspendedTo(chunk, found);
            if (out.end(RecordingWriter.SUSPENDED, 0)) {
                clock();
            }
        }
    }

    /**
     * Writes what recording has cost by now, in nanoseconds of CPU time, -1 for what is not known. That alone begins no
     * file.
     *
     * @param process of the whole process
     * @param recorder of the recorder's own threads
     * @param agent of the agent, which replaces classes
     */
    void cost(long process, long recorder, long agent) {
        if (out.begun() && out.begin()) {
            chunk.sv(process).sv(recorder).sv(agent);
            out.end(RecordingWriter.COST, 0);
        }
    }

    private static void suspendedTo(ChunkBytes to, Collection<Suspensions.Time> times) {
        to.size = 0;
        to.uv(times.size());
        for (Suspensions.Time t : times) {
            to.sv(t.begin).sv(t.end).u8(t.cause);
        }
    }
}
