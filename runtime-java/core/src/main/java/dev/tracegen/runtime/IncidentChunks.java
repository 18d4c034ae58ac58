package dev.tracegen.runtime;

import java.util.List;
import java.util.Map;

/** Writes the chunks of detectors, and what was not written: FRAMES, DETECTORS, INCIDENT and DROPPED. */
final class IncidentChunks {
    /** The parts of a frame that the format has a place for. They are not recorded. */
    private static final int PARTS = 10;

    private final RecordingWriter out;
    private final ChunkBytes chunk;

    /** The states of the detectors that are in this file; null if there are none. */
    private Map<String, String> detectors;

    /** Those in the group that is being made. */
    private Map<String, String> groupDetectors;

    IncidentChunks(RecordingWriter out) {
        this.out = out;
        this.chunk = out.chunk;
    }

    /** Forgets what is in the file, because the next one refers to nothing in it. */
    void beginFile() {
        detectors = null;
    }

    void beginGroup() {
        groupDetectors = null;
    }

    /** Notes that the group is in the file. */
    void written() {
        detectors = groupDetectors == null ? detectors : groupDetectors;
    }

    void frames(List<FrameTiming> timings) {
        if (timings.isEmpty() || !out.begin()) {
            return;
        }
        chunk.uv(timings.size());
        for (FrameTiming f : timings) {
            chunk.sv(f.vsyncNanos).sv(f.startNanos).sv(f.endNanos).uv(f.dropped).u32(Float.floatToIntBits(f.refreshHz));
            for (int k = 0; k < PARTS; k++) {
                chunk.sv(-1);
            }
        }
        out.end(RecordingWriter.FRAMES, 0);
    }

    /**
     * Writes what the detectors do, unless the file has that already: without it, a detector that found
     * nothing looks to a reader like one that was off. It alone begins no file.
     */
    void detectors(Map<String, String> states) {
        if (!out.isOpen() || states == detectors || states.isEmpty() || states.equals(detectors) || !out.begin()) {
            return;
        }
        detectorsTo(chunk, states);
        groupDetectors = states;
        out.end(RecordingWriter.DETECTORS, 0);
    }

    private static void detectorsTo(ChunkBytes to, Map<String, String> states) {
        to.size = 0;
        to.uv(states.size());
        for (Map.Entry<String, String> e : states.entrySet()) {
            to.str(e.getKey()).str(e.getValue());
        }
    }

    /**
     * Writes an INCIDENT chunk and waits until it is on the disk. The states of the detectors come before it, if they
     * are others than those in the file.
     */
    void incident(Incident incident, Map<String, String> states) {
        if (!(incident.trace == null ? out.begin() : out.begin(incident.trace))) {
            return;
        }
        if (!states.equals(detectors)) {
            detectorsTo(out.small, states);
            out.add(RecordingWriter.DETECTORS, 0, out.small);
            groupDetectors = states;
        }
        Incident i = new Incident(incident, out.texts, null);
        chunk.uv(i.number).uv(out.string(i.detector)).uv(out.string(i.kind)).uv(out.string(i.what))
                .uv(i.trace == null ? 0 : 1 + i.trace.index).sv(i.beginNanos).sv(i.endNanos).uv(i.firstRecord)
                .uv(i.endRecord).uv(out.string(i.scene)).u8(i.foreground ? 1 : 0).uv(i.facts.size());
        for (Map.Entry<String, String> e : i.facts.entrySet()) {
            chunk.uv(out.string(e.getKey())).str(e.getValue());
        }
        chunk.uv(i.stacks.size());
        for (ThreadStack s : i.stacks) {
            chunk.uv(out.string(s.thread)).sv(s.nanos).u8(RecordingWriter.code(s.state)).uv(s.frames.size());
            for (StackTraceElement e : s.frames) {
                chunk.uv(out.string(e.toString()));
            }
        }
        if (out.end(RecordingWriter.INCIDENT, 0)) {
            out.sync();
        }
    }

    /**
     * Writes a DROPPED chunk: what the recorder did not write, for all threads together. That alone begins no file.
     *
     * @param counts how many by kind, the kind is the index; zeros are left out
     * @return false if it is not written now; then the counts are to be written later
     */
    boolean dropped(long[] counts) {
        if (!out.begun() || !out.open()) {
            return false;
        }
        int n = 0;
        for (long count : counts) {
            n += count > 0 ? 1 : 0;
        }
        out.begin();
        chunk.uv(n);
        for (int kind = 0; kind < counts.length; kind++) {
            if (counts[kind] > 0) {
                chunk.uv(0).u8(kind).uv(counts[kind]);
            }
        }
        return out.end(RecordingWriter.DROPPED, 0);
    }
}
