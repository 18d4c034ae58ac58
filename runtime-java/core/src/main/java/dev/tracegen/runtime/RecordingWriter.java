package dev.tracegen.runtime;

import java.io.Closeable;
import java.io.FileOutputStream;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Writes a recording in the format of trace/FORMAT.md: a header and chunks. Each chunk is written at once and never
 * changed, so that a file that was cut at any place is valid up to its last complete chunk.
 *
 * <p>A file that has reached its size is closed and renamed, and the next part is begun, which does not refer to it.
 * Not safe for concurrent use.
 */
final class RecordingWriter implements Closeable {
    static final int META = 1;
    static final int CLOCK = 2;
    static final int THREADS = 3;
    static final int STRINGS = 4;
    static final int RECORDS = 5;
    static final int MESSAGES = 6;
    static final int SAMPLES = 7;
    static final int FRAMES = 8;
    static final int STALL = 9;
    static final int PENDING = 10;
    static final int END = 11;
    static final int GATE = 12;
    static final int ALIVE = 13;
    static final int WINDOW = 14;
    static final int LEFT_OUT = 15;
    static final int SUSPENDED = 16;
    static final int DROPPED = 19;

    static final int DEFLATE = 1;
    static final int DELTA = 2;

    /** The greatest number of records in one chunk. A reader must hold that many, and a cut file loses that many. */
    static final int CHUNK_RECORDS = 1 << 16;

    private static final int MAGIC = 0x31444754; // TGD1
    private static final int SYNC = 0x4B434754; // TGCK
    private static final int MINOR = 2;
    private static final int HEADER = 32;
    private static final int CHUNK_HEADER = 20;

    /** The greatest number of strings in a file. A file with more is closed whatever its size. */
    private static final int MAX_STRINGS = 1 << 16;

    /** A shorter payload is not deflated. */
    private static final int WORTH_DEFLATING = 128;

    private final RecorderOptions options;
    private final long baseNanos;
    private final OutputFile file;
    private final ChunkBytes chunk = new ChunkBytes();
    private final ChunkBytes out = new ChunkBytes();
    private final Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
    private final CRC32 crc = new CRC32();
    private final Map<String, Integer> strings = new HashMap<String, Integer>();
    private final Map<Integer, ThreadTrace> threads = new HashMap<Integer, ThreadTrace>();
    private ChunkBytes newStrings = new ChunkBytes();
    private int newStringCount;
    private FileOutputStream stream;
    private final long recordingId;
    private long fileId;
    private int part = 1;
    private long size;
    private int chunks;
    private long records;
    private long overwritten;

    /**
     * Begins a file. A recording that is there already is renamed first.
     *
     * @param options the output, its limits, and the facts of the META chunk
     * @param baseNanos the time of tick 0, in nanoseconds of the platform's clock
     * @throws IOException if the file cannot be written, or if there is something that is no recording
     */
    RecordingWriter(RecorderOptions options, long baseNanos) throws IOException {
        this(options, baseNanos, new SecureRandom().nextLong());
    }

    /** As above, with a given file ID, for tests that compare bytes. */
    RecordingWriter(RecorderOptions options, long baseNanos, long fileId) throws IOException {
        this.options = options;
        this.baseNanos = baseNanos;
        this.file = new OutputFile(options.output, options.maxFiles);
        this.recordingId = fileId;
        this.fileId = fileId;
        open();
    }

    private void open() throws IOException {
        stream = part == 1 ? file.open() : file.next(part - 1);
        size = 0;
        chunks = 0;
        records = 0;
        overwritten = 0;
        strings.clear();
        strings.put("", 0);
        threads.clear();
        newStrings.size = 0;
        newStringCount = 0;
        out.size = 0;
        out.u32(MAGIC).u16(1).u16(MINOR).u32(HEADER).u64(fileId).u64(0);
        crc.reset();
        crc.update(out.bytes, 0, out.size);
        out.u32((int) crc.getValue());
        write();
        meta();
        clock();
    }

    private void meta() throws IOException {
        Map<String, String> all = new java.util.TreeMap<String, String>(options.meta);
        all.put("mappingId", MappingInfo.digest());
        all.put("recordingId", hex(recordingId));
        all.put("part", String.valueOf(part));
        all.put("firstPart", String.valueOf(file.firstPart(part)));
        all.put("encoder", "i20t43");
        all.put("tickNanos", String.valueOf(options.tickNanos));
        all.put("clockPeriodMillis", String.valueOf(options.clockPeriodMillis));
        all.put("slowMillis", String.valueOf(options.slowMillis));
        all.put("records", options.everyRecord ? "all" : "slow");
        begin();
        chunk.uv(all.size());
        for (Map.Entry<String, String> e : all.entrySet()) {
            chunk.str(e.getKey()).str(e.getValue());
        }
        end(META, 0);
    }

    private static String hex(long value) {
        return String.format(java.util.Locale.ROOT, "%016x", value);
    }

    /** Writes a CLOCK chunk: the current times of all clocks. */
    void clock() throws IOException {
        begin();
        Platform p = options.platform;
        chunk.sv(p.nanoTime()).sv(p.elapsedRealtimeNanos()).sv(p.wallMillis()).sv(baseNanos)
                .str(TimeZone.getDefault().getID());
        end(CLOCK, 0);
    }

    /** Writes records in as many RECORDS chunks as are needed. */
    void records(ThreadTrace trace, RecordCopy copy) throws IOException {
        thread(trace);
        int from = 0;
        long lost = copy.overwritten;
        do {
            int to = Math.min(copy.records.length, from + CHUNK_RECORDS);
            begin();
            chunk.uv(trace.index).uv(copy.firstSequence + from).uv(lost).uv(to - from);
            chunk.records(copy.records, from, to);
            records += to - from;
            overwritten += lost;
            lost = 0;
            from = to;
            end(RECORDS, DELTA);
        } while (from < copy.records.length);
    }

    void messages(ThreadTrace trace, List<MessageRecord> messages) throws IOException {
        if (messages.isEmpty()) {
            return;
        }
        thread(trace);
        begin();
        chunk.uv(trace.index).uv(messages.size());
        for (MessageRecord m : messages) {
            chunk.u8(m.kind).uv(m.sequence).uv(m.count).sv(m.beginNanos).uv(m.wallNanos).sv(m.cpuNanos)
                    .uv(string(MessageText.withoutAddresses(m.description)));
        }
        end(MESSAGES, 0);
    }

    void sample(StackSample s) throws IOException {
        thread(s.trace);
        if (s.owner != null) {
            thread(s.owner);
        }
        begin();
        chunk.sv(s.nanos).uv(s.trace.index).u8(code(s.state)).uv(s.stack.length);
        for (StackTraceElement e : s.stack) {
            chunk.uv(string(e.toString()));
        }
        chunk.sv(s.cpuNanos);
        if (s.lock != null) {
            chunk.uv(string(s.lock.lockClass)).u32(s.lock.identity).uv(s.owner == null ? 0 : 1 + s.owner.index);
        }
        end(SAMPLES, 0);
    }

    /** Writes which methods a thread has switched on and off. To be called before its records behind that. */
    void gate(ThreadTrace trace, Gate.Change change) throws IOException {
        thread(trace);
        for (int id : change.ids) {
            if (id > 0) {
                trace.off.add(id);
            } else {
                trace.off.remove(-id);
            }
        }
        gate(trace, change.nanos, change.number, change.ids);
    }

    private void gate(ThreadTrace trace, long nanos, long number, int[] ids) throws IOException {
        begin();
        chunk.sv(nanos).uv(ids.length);
        for (int id : ids) {
            chunk.uv(Math.abs(id)).u8(id > 0 ? 1 : 0);
        }
        chunk.uv(1).uv(trace.index).uv(number);
        end(GATE, 0);
    }

    /** Writes a window of a thread. To be called before the window's records. */
    void window(ThreadTrace trace, Window.Closed w) throws IOException {
        thread(trace);
        begin();
        chunk.uv(trace.index).sv(baseNanos + w.begin * options.tickNanos).sv(baseNanos + w.end * options.tickNanos)
                .uv(w.firstRecord).uv(w.endRecord).uv(w.calls);
        end(WINDOW, 0);
    }

    /** Writes how many calls of methods were left out by the gate since the last such chunk. */
    void leftOut(long nanos, int[] ids, long[] calls) throws IOException {
        begin();
        chunk.sv(nanos).uv(ids.length);
        for (int k = 0; k < ids.length; k++) {
            chunk.uv(ids[k]).uv(calls[k]);
        }
        end(LEFT_OUT, 0);
    }

    /** Writes times in which the process did not run. To be called before records and stalls behind them. */
    void suspended(List<Suspensions.Time> times) throws IOException {
        begin();
        chunk.uv(times.size());
        for (Suspensions.Time t : times) {
            chunk.sv(t.begin).sv(t.end).u8(t.cause);
        }
        end(SUSPENDED, 0);
    }

    /**
     * Writes a DROPPED chunk: what the recorder did not write, for all threads together.
     *
     * @param counts how many by kind, the kind is the index; zeros are left out
     */
    void dropped(long[] counts) throws IOException {
        int n = 0;
        for (long count : counts) {
            n += count > 0 ? 1 : 0;
        }
        begin();
        chunk.uv(n);
        for (int kind = 0; kind < counts.length; kind++) {
            if (counts[kind] > 0) {
                chunk.uv(0).u8(kind).uv(counts[kind]);
            }
        }
        end(DROPPED, 0);
    }

    /**
     * Writes an ALIVE chunk: the process lived at this time, and these messages and outermost calls were open.
     *
     * @param nanos the time, in {@link Platform#nanoTime()}
     * @param wallMillis the same moment, in {@link Platform#wallMillis()}
     */
    void alive(long nanos, long wallMillis, List<OpenCall> open) throws IOException {
        for (OpenCall c : open) {
            thread(c.trace);
        }
        begin();
        chunk.sv(nanos).sv(wallMillis).uv(open.size());
        for (OpenCall c : open) {
            chunk.uv(c.trace.index).uv(c.number).sv(c.beginNanos).u8(code(c.state)).sv(c.cpuNanos)
                    .uv(string(c.text == null ? null : MessageText.withoutAddresses(c.text)));
        }
        end(ALIVE, 0);
    }

    void frames(List<FrameTiming> frames) throws IOException {
        if (frames.isEmpty()) {
            return;
        }
        begin();
        chunk.uv(frames.size());
        for (FrameTiming f : frames) {
            chunk.sv(f.vsyncNanos).sv(f.startNanos).sv(f.endNanos).uv(f.dropped).u32(Float.floatToIntBits(f.refreshHz));
            for (int k = 0; k < FrameTiming.DURATIONS; k++) {
                chunk.sv(f.duration(k));
            }
        }
        end(FRAMES, 0);
    }

    /** Writes a STALL chunk and waits until it is on the disk. */
    void stall(ThreadTrace trace, Stall stall, MessageRecord m) throws IOException {
        thread(trace);
        begin();
        chunk.uv(trace.index).u8(0).uv(m.sequence).sv(m.beginNanos).uv(m.wallNanos).sv(m.cpuNanos)
                .uv(m.firstRecord).uv(m.endRecord).uv(string(MessageText.withoutAddresses(m.description)))
                .uv(string(stall.scene)).u8(stall.foreground ? 1 : 0).sv(stall.gcCount).sv(stall.gcMillis)
                .u8(code(stall.stateAtThreshold)).uv(string(stall.lockOwner)).str(stall.stackKey)
                .uv(stall.tree.repairs());
        end(STALL, 0);
        stream.getFD().sync();
    }

    /** Writes the waiting messages; null if they are not available. */
    void pending(ThreadTrace trace, long message, List<PendingMessage> pending) throws IOException {
        thread(trace);
        begin();
        chunk.uv(trace.index).uv(message).u8(pending == null ? 0 : 1).uv(pending == null ? 0 : pending.size());
        if (pending != null) {
            for (PendingMessage p : pending) {
                chunk.sv(p.whenNanos).sv(p.what).uv(string(p.target)).uv(string(p.callback)).sv(p.arg1)
                        .u8((p.asynchronous ? 1 : 0) | (p.target == null ? 2 : 0));
            }
        }
        end(PENDING, 0);
    }

    private static int code(Thread.State state) {
        return state == null ? 0 : 1 + state.ordinal();
    }

    private void thread(ThreadTrace trace) throws IOException {
        // Again if this chunk closed the file: the next file does not have the thread.
        while (!threads.containsKey(trace.index)) {
            threads.put(trace.index, trace);
            begin();
            chunk.uv(1).uv(trace.index).sv(trace.thread.getId()).str(trace.name()).u8(trace.main ? 1 : 0);
            end(THREADS, 0);
            if (!trace.off.isEmpty()) {
                // A file refers to nothing in the one before.
                int[] ids = new int[trace.off.size()];
                int n = 0;
                for (int id : trace.off) {
                    ids[n++] = id;
                }
                gate(trace, options.platform.nanoTime(), 0, ids);
            }
        }
    }

    /**
     * Returns the number of a string in this file. New strings are written in a STRINGS chunk before the current
     * chunk.
     */
    private int string(String s) {
        String key = s == null ? "" : s;
        Integer known = strings.get(key);
        if (known != null) {
            return known;
        }
        int id = strings.size();
        strings.put(key, id);
        newStrings.str(key);
        newStringCount++;
        return id;
    }

    private void begin() {
        chunk.size = 0;
    }

    private void end(int type, int flags) throws IOException {
        if (newStringCount > 0) {
            int first = strings.size() - newStringCount;
            ChunkBytes payload = new ChunkBytes();
            payload.uv(first).uv(newStringCount);
            payload.reserve(newStrings.size);
            System.arraycopy(newStrings.bytes, 0, payload.bytes, payload.size, newStrings.size);
            payload.size += newStrings.size;
            newStrings.size = 0;
            newStringCount = 0;
            frame(STRINGS, 0, payload);
        }
        frame(type, flags, chunk);
        if (type != END && (size >= options.maxFileBytes || strings.size() >= MAX_STRINGS)) {
            finish(true);
            fileId++;
            part++;
            stream = null;
            open();
        }
    }

    /** Returns the ID of the file that is written now. */
    long fileId() {
        return fileId;
    }

    /** Reports whether the last file was closed and the next one could not be opened. Then nothing can be written. */
    boolean ended() {
        return stream == null;
    }

    /** Writes one chunk with one system call. */
    private void frame(int type, int flags, ChunkBytes payload) throws IOException {
        out.size = 0;
        boolean deflate = payload.size >= WORTH_DEFLATING;
        out.u32(SYNC).u16(type).u16(flags | (deflate ? DEFLATE : 0)).u32(0).u32(chunks).u32(0);
        if (deflate) {
            deflate(payload);
        } else {
            out.reserve(payload.size);
            System.arraycopy(payload.bytes, 0, out.bytes, out.size, payload.size);
            out.size += payload.size;
        }
        out.put32(8, out.size - CHUNK_HEADER);
        crc.reset();
        crc.update(out.bytes, 4, 12);
        crc.update(out.bytes, CHUNK_HEADER, out.size - CHUNK_HEADER);
        out.put32(16, (int) crc.getValue());
        while (out.size % 4 != 0) {
            out.u8(0);
        }
        chunks++;
        write();
    }

    private void deflate(ChunkBytes payload) {
        out.u32(payload.size);
        deflater.reset();
        deflater.setInput(payload.bytes, 0, payload.size);
        deflater.finish();
        while (!deflater.finished()) {
            out.reserve(4096);
            out.size += deflater.deflate(out.bytes, out.size, out.bytes.length - out.size);
        }
    }

    private void write() throws IOException {
        stream.write(out.bytes, 0, out.size);
        size += out.size;
    }

    /** Writes the END chunk and closes the file. */
    private void finish(boolean anotherPart) throws IOException {
        begin();
        chunk.uv(chunks).uv(records).uv(overwritten).u8(anotherPart ? 1 : 0);
        end(END, 0);
        stream.close();
    }

    /** Writes the END chunk and closes the file. It is the last part. */
    @Override
    public void close() throws IOException {
        try {
            finish(false);
        } finally {
            stream.close();
            deflater.end();
        }
    }
}
