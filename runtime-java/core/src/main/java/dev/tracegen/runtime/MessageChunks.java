package dev.tracegen.runtime;

import java.util.List;
import java.util.Map;

/** Writes the chunks of messages and stalls: MESSAGES, SAMPLES, ALIVE, STALL, PENDING and MACHINE. */
final class MessageChunks {
    private final RecordingWriter out;
    private final ChunkBytes chunk;
    private final Texts texts;

    MessageChunks(RecordingWriter out) {
        this.out = out;
        this.chunk = out.chunk;
        this.texts = out.texts;
    }

    /** Writes messages that ran on a thread. They alone begin no file. */
    void ran(ThreadTrace trace, List<MessageRecord> messages) {
        if (messages.isEmpty() || !out.begun() || !out.begin(trace)) {
            return;
        }
        chunk.uv(trace.index).uv(messages.size());
        for (MessageRecord m : messages) {
            chunk.u8(m.kind).uv(m.sequence).uv(m.count).sv(m.beginNanos).uv(m.wallNanos).sv(m.cpuNanos)
                    .uv(out.string(texts.message(m.description)));
        }
        out.end(RecordingWriter.MESSAGES, 0);
    }

    void sample(StackSample s) {
        if (!(s.owner == null ? out.begin(s.trace) : out.begin(s.trace, s.owner))) {
            return;
        }
        chunk.sv(s.nanos).uv(s.trace.index).u8(RecordingWriter.code(s.state)).uv(s.stack.length);
        for (StackTraceElement e : s.stack) {
            chunk.uv(out.string(e.toString()));
        }
        chunk.sv(s.cpuNanos);
        if (s.lock != null) {
            chunk.uv(out.string(s.lock.lockClass)).u32(s.lock.identity).uv(s.owner == null ? 0 : 1 + s.owner.index);
        }
        out.end(RecordingWriter.SAMPLES, 0);
    }

    /**
     * Writes an ALIVE chunk: the process lived at this time, and these messages and outermost calls were open. It
     * begins a file only if one of them is slow.
     *
     * @param nanos the time, in {@link Platform#nanoTime()}
     * @param wallMillis the same moment, in {@link Platform#wallMillis()}
     */
    void alive(long nanos, long wallMillis, List<OpenCall> open) {
        ThreadTrace[] about = new ThreadTrace[open.size()];
        boolean slow = false;
        for (int k = 0; k < about.length; k++) {
            about[k] = open.get(k).trace;
            slow |= nanos - open.get(k).beginNanos >= out.options.slowNanos(open.get(k).kind);
        }
        if (!(out.begun() || slow) || !out.begin(about)) {
            return;
        }
        chunk.sv(nanos).sv(wallMillis).uv(open.size());
        for (OpenCall c : open) {
            chunk.uv(c.trace.index).uv(c.number).sv(c.beginNanos).u8(RecordingWriter.code(c.state)).sv(c.cpuNanos)
                    .uv(out.string(texts.message(c.text)));
        }
        out.end(RecordingWriter.ALIVE, 0);
    }

    /** Writes a STALL chunk and waits until it is on the disk. */
    void stall(ThreadTrace trace, Stall stall, MessageRecord m) {
        if (!out.begin(trace)) {
            return;
        }
        // A message of the system is a message for a STALL.
        int kind = m.kind > MessageRecord.MERGED ? m.kind : MessageRecord.NORMAL;
        chunk.uv(trace.index).u8(kind).uv(m.sequence).sv(m.beginNanos).uv(m.wallNanos).sv(m.cpuNanos)
                .uv(m.firstRecord).uv(m.endRecord).uv(out.string(texts.message(m.description)))
                .uv(out.string(texts.scene(stall.scene))).u8(stall.foreground ? 1 : 0).sv(stall.gcCount)
                .sv(stall.gcMillis).u8(RecordingWriter.code(stall.stateAtThreshold))
                .uv(out.string(texts.lockOwner(stall.lockOwner))).str(stall.stackKey).uv(stall.tree.repairs())
                .uv(stall.postedBy).sv(stall.postedNanos);
        if (out.end(RecordingWriter.STALL, 0)) {
            out.sync();
        }
    }

    /** Writes the waiting messages; null if they are not available. */
    void pending(ThreadTrace trace, long message, List<PendingMessage> pending) {
        if (!out.begin(trace)) {
            return;
        }
        chunk.uv(trace.index).uv(message).u8(pending == null ? 0 : 1).uv(pending == null ? 0 : pending.size());
        if (pending != null) {
            for (PendingMessage p : pending) {
                chunk.sv(p.whenNanos).sv(p.what).uv(out.string(p.target)).uv(out.string(p.callback)).sv(p.arg1)
                        .u8((p.asynchronous ? 1 : 0) | (p.target == null ? 2 : 0));
            }
        }
        out.end(RecordingWriter.PENDING, 0);
    }

    void machine(ThreadTrace trace, long message, long nanos, Map<String, String> facts) {
        if (!out.begin(trace)) {
            return;
        }
        chunk.uv(trace.index).uv(message).sv(nanos).uv(facts.size());
        for (Map.Entry<String, String> e : facts.entrySet()) {
            chunk.uv(out.string(e.getKey())).str(e.getValue());
        }
        out.end(RecordingWriter.MACHINE, 0);
    }
}
