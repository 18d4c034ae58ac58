package dev.tracegen.runtime;

import java.io.Closeable;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TimeZone;
import java.util.TreeSet;

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
    static final int LATE = 17;
    static final int EXIT = 18;
    static final int DROPPED = 19;
    static final int INCIDENT = 20;
    static final int DETECTORS = 21;
    static final int MACHINE = 22;

    static final int DELTA = 2;

    /** The greatest number of records in one chunk. A reader must hold that many, and a cut file loses that many. */
    static final int CHUNK_RECORDS = 1 << 16;

    /** How many times in which the process did not run are at the begin of a file. */
    private static final int MAX_SUSPENDED = 64;

    private static final int MINOR = 4;

    /** A kind of chunk DROPPED: chunks that could not be written. */
    private static final int LOST_CHUNKS = 7;

    /** The greatest number of strings in a file. A file with more is closed whatever its size. */
    private static final int MAX_STRINGS = 1 << 16;

    /** For so many threads it is counted how many records could not be written. */
    private static final int MAX_UNWRITTEN = 4096;

    private final RecorderOptions options;
    private final long baseNanos;
    private final Output output;
    private final Outage outage;
    private final Texts texts;
    private final ChunkFrames frames = new ChunkFrames();

    /** The payload of the chunk that is being made, and that of those which must come before it. */
    private final ChunkBytes chunk = new ChunkBytes();
    private final ChunkBytes small = new ChunkBytes();

    /**
     * The chunk that is being made with those that must come before it. They are written at once: nothing that the
     * chunk refers to may be missing, and what was not written must not be taken for written.
     */
    private final ChunkBytes group = new ChunkBytes();
    private int groupChunks;
    private long groupLost;
    private long groupRecords;
    private long groupOverwritten;
    private Map<String, String> groupDetectors;
    private final List<ThreadTrace> groupThreads = new ArrayList<ThreadTrace>();

    /** The last times in which the process did not run. */
    private final ArrayDeque<Suspensions.Time> suspended = new ArrayDeque<Suspensions.Time>();

    private final StringTable strings = new StringTable();

    /** The states of the detectors that are in this file; null if there are none. */
    private Map<String, String> detectors;

    /** The indexes of the threads that are in this file. It refers to no thread: there may be very many. */
    private final BitSet threads = new BitSet();

    /** The changes of gates that are not in the file, by thread. */
    private final Map<Integer, UnwrittenGate> gates = new HashMap<Integer, UnwrittenGate>();

    /** How many records are not in the recording since the last ones of the thread that are, if all are to be. */
    private final Map<Integer, Long> unwrittenRecords = new HashMap<Integer, Long>();

    /** Null while no file is open. */
    private OpenFile file;

    private final long recordingId;
    private long fileId;
    private int part = 1;
    private boolean begun;
    private boolean ended;
    private boolean syncFailed;
    private int chunks;
    private long records;
    private long overwritten;

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

    /**
     * Begins a recording. The first chunk begins its file, or {@link #open}: a file without a stall must not replace an
     * earlier one that has one, if only stalls are written.
     *
     * @param options the output, its limits, and the facts of the META chunk
     * @param baseNanos the time of tick 0, in nanoseconds of the platform's clock
     * @throws RefusedOutput if there is something that must not be written to. Any other failure is logged, and tried
     *     again later
     */
    RecordingWriter(RecorderOptions options, long baseNanos) throws IOException {
        this(options, baseNanos, new SecureRandom().nextLong(), new Disk());
    }

    /** As above, with a given file ID, for tests that compare bytes, and with a disk that may fail. */
    RecordingWriter(RecorderOptions options, long baseNanos, long fileId, Disk disk) throws IOException {
        this.options = options;
        this.baseNanos = baseNanos;
        this.output = new Output(options, disk);
        this.outage = new Outage(options.platform);
        this.texts = new Texts(options);
        this.recordingId = fileId;
        this.fileId = fileId;
        try {
            output.check();
        } catch (RefusedOutput e) {
            throw e;
        } catch (IOException e) {
            outage.failed(e);
        }
    }

    /**
     * Opens the file of the current part, unless it is open, and writes its first chunks. If the output is a pipe, it
     * waits for the reader.
     *
     * @return false if that is not possible now
     */
    boolean open() {
        if (ended || !outage.mayTry()) {
            return false;
        }
        if (file != null) {
            return true;
        }
        begun = true;
        OpenFile opened = null;
        try {
            opened = output.open(part);
            forget();
            frames.header(group, MINOR, fileId);
            meta();
            clockTo(small);
            add(CLOCK, 0, small);
            if (!suspended.isEmpty()) {
                suspendedTo(small, suspended);
                add(SUSPENDED, 0, small);
            }
            opened.append(group);
            file = opened;
            opened = null;
            written();
            return true;
        } catch (RefusedOutput e) {
            ended = true;
            options.platform.log((part == 1 ? "no recording is written" : "the recording ends here")
                    + ", and the program runs on: " + e.getMessage());
        } catch (IOException e) {
            outage.failed(e);
        } finally {
            if (opened != null) {
                // A file without its whole begin would be refused by readers.
                opened.discard();
            }
        }
        return false;
    }

    /** Forgets what is in the file, because the next one refers to nothing in it. */
    private void forget() {
        beginGroup();
        strings.clear();
        threads.clear();
        detectors = null;
        chunks = 0;
        records = 0;
        overwritten = 0;
    }

    private void meta() {
        Map<String, String> all = new java.util.TreeMap<String, String>(options.meta);
        all.put("mappingId", MappingInfo.digest());
        all.put("recordingId", hex(recordingId));
        all.put("part", String.valueOf(part));
        all.put("firstPart", String.valueOf(output.firstPart(part)));
        all.put("encoder", "i20t43");
        all.put("tickNanos", String.valueOf(options.tickNanos));
        all.put("clockPeriodMillis", String.valueOf(Math.max(options.clockPeriodMillis, options.earlyPeriodMillis)));
        all.put("slowMillis", String.valueOf(options.slowMillis));
        all.put("records", options.everyRecord ? "all" : "slow");
        small.size = 0;
        small.uv(all.size());
        for (Map.Entry<String, String> e : all.entrySet()) {
            boolean command = e.getKey().equals("sun.java.command");
            small.str(e.getKey()).str(command ? texts.command(e.getValue()) : e.getValue());
        }
        add(META, 0, small);
    }

    static String hex(long value) {
        return String.format(java.util.Locale.ROOT, "%016x", value);
    }

    /**
     * Reports whether a file was begun, or tried to. While none was, there is nothing that is worth one, and what only
     * adds to others need not be written.
     */
    boolean begun() {
        return begun;
    }

    /** Reports whether the output was refused. Then nothing will be written. */
    boolean ended() {
        return ended;
    }

    /** Returns for how many nanoseconds the thread has waited for the reader of a pipe. May be called on any thread. */
    long waitedNanos() {
        return output.waitedNanos();
    }

    /** Returns the ID of the file that is written now, or that will be written next. */
    long fileId() {
        return fileId;
    }

    /** Writes a CLOCK chunk: the current times of all clocks. */
    void clock() {
        if (begin()) {
            clockTo(chunk);
            end(CLOCK, 0);
        }
    }

    private void clockTo(ChunkBytes to) {
        Platform p = options.platform;
        to.size = 0;
        to.sv(p.nanoTime()).sv(p.elapsedRealtimeNanos()).sv(p.wallMillis()).sv(baseNanos)
                .str(TimeZone.getDefault().getID());
    }

    /**
     * Writes records in as many RECORDS chunks as are needed.
     *
     * @return false if some could not be written
     */
    boolean records(ThreadTrace trace, RecordCopy copy) {
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
        if (begin(trace)) {
            chunk.uv(trace.index).uv(copy.firstSequence + from).uv(lost).uv(to - from);
            chunk.records(copy.records, from, to);
            groupRecords = to - from;
            groupOverwritten = lost;
            if (end(RECORDS, DELTA)) {
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

    /** Writes messages that ran on a thread. They alone begin no file. */
    void messages(ThreadTrace trace, List<MessageRecord> messages) {
        if (messages.isEmpty() || !begun || !begin(trace)) {
            return;
        }
        chunk.uv(trace.index).uv(messages.size());
        for (MessageRecord m : messages) {
            chunk.u8(m.kind).uv(m.sequence).uv(m.count).sv(m.beginNanos).uv(m.wallNanos).sv(m.cpuNanos)
                    .uv(string(texts.message(m.description)));
        }
        end(MESSAGES, 0);
    }

    void sample(StackSample s) {
        if (!(s.owner == null ? begin(s.trace) : begin(s.trace, s.owner))) {
            return;
        }
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
    void gate(ThreadTrace trace, Gate.Change change) {
        // Before the change: what was off until now belongs to the begin of a file.
        boolean possible = begun && begin(trace);
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
            possible = end(GATE, 0);
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
        if (!begin(trace)) {
            return;
        }
        chunk.uv(trace.index).sv(baseNanos + w.begin * options.tickNanos).sv(baseNanos + w.end * options.tickNanos)
                .uv(w.firstRecord).uv(w.endRecord).uv(w.calls);
        end(WINDOW, 0);
    }

    /** Writes how many calls of methods were left out by the gate since the last such chunk. */
    void leftOut(long nanos, int[] ids, long[] calls) {
        if (!begun || !begin()) {
            return;
        }
        chunk.sv(nanos).uv(ids.length);
        for (int k = 0; k < ids.length; k++) {
            chunk.uv(ids[k]).uv(calls[k]);
        }
        end(LEFT_OUT, 0);
    }

    /**
     * Writes a LATE chunk: when the clock of the records did not move although it had to. That alone begins no file.
     *
     * @param intervals begin and end of each time in turn
     * @return false if it is not written now; then it is to be written later
     */
    boolean late(long[] intervals) {
        if (!begun || !open()) {
            return false;
        }
        begin();
        chunk.uv(intervals.length / 2);
        for (long nanos : intervals) {
            chunk.sv(nanos);
        }
        return end(LATE, 0);
    }

    /**
     * Writes times in which the process did not run, and the current times of all clocks: the difference of two CLOCK
     * chunks shows how long the device slept. To be called before records and stalls behind these times. That alone
     * begins no file. The last times are at the begin of each file, because a stall in it may have begun before.
     */
    void suspended(List<Suspensions.Time> found) {
        for (Suspensions.Time t : found) {
            if (suspended.size() == MAX_SUSPENDED) {
                suspended.removeFirst();
            }
            suspended.addLast(t);
        }
        OpenFile before = file;
        if (begun && begin() && file == before) {
            suspendedTo(chunk, found);
            if (end(SUSPENDED, 0)) {
                clock();
            }
        }
    }

    private static void suspendedTo(ChunkBytes to, Collection<Suspensions.Time> times) {
        to.size = 0;
        to.uv(times.size());
        for (Suspensions.Time t : times) {
            to.sv(t.begin).sv(t.end).u8(t.cause);
        }
    }

    /**
     * Writes a DROPPED chunk: what the recorder did not write, for all threads together. That alone begins no file.
     *
     * @param counts how many by kind, the kind is the index; zeros are left out
     * @return false if it is not written now; then the counts are to be written later
     */
    boolean dropped(long[] counts) {
        if (!begun || !open()) {
            return false;
        }
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
        return end(DROPPED, 0);
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
            slow |= nanos - open.get(k).beginNanos >= options.slowNanos(open.get(k).kind);
        }
        if (!(begun || slow) || !begin(about)) {
            return;
        }
        chunk.sv(nanos).sv(wallMillis).uv(open.size());
        for (OpenCall c : open) {
            chunk.uv(c.trace.index).uv(c.number).sv(c.beginNanos).u8(code(c.state)).sv(c.cpuNanos)
                    .uv(string(texts.message(c.text)));
        }
        end(ALIVE, 0);
    }

    void frames(List<FrameTiming> timings) {
        if (timings.isEmpty() || !begin()) {
            return;
        }
        chunk.uv(timings.size());
        for (FrameTiming f : timings) {
            chunk.sv(f.vsyncNanos).sv(f.startNanos).sv(f.endNanos).uv(f.dropped).u32(Float.floatToIntBits(f.refreshHz));
            for (int k = 0; k < FrameTiming.DURATIONS; k++) {
                chunk.sv(f.duration(k));
            }
        }
        end(FRAMES, 0);
    }

    /**
     * Writes what the detectors do, unless the file has that already: without it, a detector that found
     * nothing looks to a reader like one that was off. It alone begins no file.
     */
    void detectors(Map<String, String> states) {
        if (file == null || states == detectors || states.isEmpty() || states.equals(detectors) || !begin()) {
            return;
        }
        detectorsTo(chunk, states);
        groupDetectors = states;
        end(DETECTORS, 0);
    }

    /**
     * Writes an INCIDENT chunk and waits until it is on the disk. The states of the detectors come before it, if they
     * are others than those in the file.
     */
    void incident(Incident incident, Map<String, String> states) {
        if (!(incident.trace == null ? begin() : begin(incident.trace))) {
            return;
        }
        if (!states.equals(detectors)) {
            detectorsTo(small, states);
            add(DETECTORS, 0, small);
            groupDetectors = states;
        }
        Incident i = new Incident(incident, texts);
        chunk.uv(i.number).uv(string(i.detector)).uv(string(i.kind)).uv(string(i.what))
                .uv(i.trace == null ? 0 : 1 + i.trace.index).sv(i.beginNanos).sv(i.endNanos).uv(i.firstRecord)
                .uv(i.endRecord).uv(string(i.scene)).u8(i.foreground ? 1 : 0).uv(i.facts.size());
        for (Map.Entry<String, String> e : i.facts.entrySet()) {
            chunk.uv(string(e.getKey())).str(e.getValue());
        }
        chunk.uv(i.stacks.size());
        for (ThreadStack s : i.stacks) {
            chunk.uv(string(s.thread)).sv(s.nanos).u8(code(s.state)).uv(s.frames.size());
            for (StackTraceElement e : s.frames) {
                chunk.uv(string(e.toString()));
            }
        }
        if (end(INCIDENT, 0)) {
            sync();
        }
    }

    private static void detectorsTo(ChunkBytes to, Map<String, String> states) {
        to.size = 0;
        to.uv(states.size());
        for (Map.Entry<String, String> e : states.entrySet()) {
            to.str(e.getKey()).str(e.getValue());
        }
    }

    /** Writes a STALL chunk and waits until it is on the disk. */
    void stall(ThreadTrace trace, Stall stall, MessageRecord m) {
        if (!begin(trace)) {
            return;
        }
        // A message of the system is a message for a STALL.
        int kind = m.kind > MessageRecord.MERGED ? m.kind : MessageRecord.NORMAL;
        chunk.uv(trace.index).u8(kind).uv(m.sequence).sv(m.beginNanos).uv(m.wallNanos).sv(m.cpuNanos)
                .uv(m.firstRecord).uv(m.endRecord).uv(string(texts.message(m.description)))
                .uv(string(texts.scene(stall.scene))).u8(stall.foreground ? 1 : 0).sv(stall.gcCount).sv(stall.gcMillis)
                .u8(code(stall.stateAtThreshold)).uv(string(texts.lockOwner(stall.lockOwner))).str(stall.stackKey)
                .uv(stall.tree.repairs()).uv(stall.postedBy).sv(stall.postedNanos);
        if (end(STALL, 0)) {
            sync();
        }
    }

    /** Writes the waiting messages; null if they are not available. */
    void pending(ThreadTrace trace, long message, List<PendingMessage> pending) {
        if (!begin(trace)) {
            return;
        }
        chunk.uv(trace.index).uv(message).u8(pending == null ? 0 : 1).uv(pending == null ? 0 : pending.size());
        if (pending != null) {
            for (PendingMessage p : pending) {
                chunk.sv(p.whenNanos).sv(p.what).uv(string(p.target)).uv(string(p.callback)).sv(p.arg1)
                        .u8((p.asynchronous ? 1 : 0) | (p.target == null ? 2 : 0));
            }
        }
        end(PENDING, 0);
    }

    void machine(ThreadTrace trace, long message, long nanos, Map<String, String> facts) {
        if (!begin(trace)) {
            return;
        }
        chunk.uv(trace.index).uv(message).sv(nanos).uv(facts.size());
        for (Map.Entry<String, String> e : facts.entrySet()) {
            chunk.uv(string(e.getKey())).str(e.getValue());
        }
        end(MACHINE, 0);
    }

    private static int code(Thread.State state) {
        return state == null ? 0 : 1 + state.ordinal();
    }

    /**
     * Begins a chunk. Opens the file if it is not open, and puts chunks before this one that must come first.
     *
     * @param about the threads that the chunk refers to
     * @return false, and the chunk counts as lost, if nothing can be written now
     */
    private boolean begin(ThreadTrace... about) {
        if (!open()) {
            outage.lose();
            return false;
        }
        beginGroup();
        if (outage.lost() > 0) {
            groupLost = outage.lost();
            small.size = 0;
            small.uv(1).uv(0).u8(LOST_CHUNKS).uv(groupLost);
            add(DROPPED, 0, small);
        }
        for (ThreadTrace t : about) {
            introduce(t);
        }
        chunk.size = 0;
        return true;
    }

    private void beginGroup() {
        group.size = 0;
        groupChunks = 0;
        groupLost = 0;
        groupRecords = 0;
        groupOverwritten = 0;
        groupDetectors = null;
        groupThreads.clear();
    }

    /** Puts a thread before the chunk, with the methods that are off, as far as the file does not have that yet. */
    private void introduce(ThreadTrace trace) {
        if (groupThreads.contains(trace)) {
            return;
        }
        UnwrittenGate g = gates.get(trace.index);
        int[] ids = {};
        if (!threads.get(trace.index)) {
            small.size = 0;
            small.uv(1).uv(trace.index).sv(trace.thread.getId()).str(texts.thread(trace.name()))
                    .u8(trace.main ? 1 : 0);
            add(THREADS, 0, small);
            ids = ids(offOf(trace), offOf(trace));
        } else if (g != null) {
            ids = ids(g.ids, offOf(trace));
        } else {
            return;
        }
        groupThreads.add(trace);
        if (ids.length > 0) {
            gateTo(small, trace, g == null ? options.platform.nanoTime() : g.nanos, g == null ? 0 : g.number, ids);
            add(GATE, 0, small);
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

    /** Returns the number of a string in this file. New strings are written before the current chunk. */
    private int string(String s) {
        // A device or a pipe is one file for ever, and a reader does not hold more strings.
        return file.inPlace && strings.size() >= MAX_STRINGS ? 0 : strings.number(s);
    }

    private void add(int type, int flags, ChunkBytes payload) {
        frames.chunk(group, type, flags, chunks + groupChunks, payload);
        groupChunks++;
    }

    /**
     * Writes the chunk, and those that come before it, with one system call.
     *
     * @return false if that failed, and the chunk counts as lost
     */
    private boolean end(int type, int flags) {
        if (strings.hasNew()) {
            small.size = 0;
            strings.payload(small);
            add(STRINGS, 0, small);
        }
        add(type, flags, chunk);
        if (!write()) {
            outage.lose();
            return false;
        }
        if (!file.inPlace && (file.size() >= output.fileBytes() || strings.size() >= MAX_STRINGS)) {
            finish(true);
            nextPart();
            open();
        }
        return true;
    }

    private boolean write() {
        try {
            file.append(group);
            written();
            return true;
        } catch (IOException e) {
            strings.notWritten();
            outage.failed(e);
            if (file.inPlace) {
                // What has arrived of the chunk is not known. The next reader of a pipe needs a whole begin.
                file.closeQuietly();
                nextPart();
            }
            return false;
        }
    }

    /** Notes that the group is in the file. */
    private void written() {
        chunks += groupChunks;
        records += groupRecords;
        overwritten += groupOverwritten;
        strings.written();
        detectors = groupDetectors == null ? detectors : groupDetectors;
        for (ThreadTrace t : groupThreads) {
            threads.set(t.index);
            gates.remove(t.index);
        }
        outage.wrote(groupLost);
    }

    private void nextPart() {
        file = null;
        fileId++;
        part++;
    }

    private void sync() {
        try {
            if (file != null) {
                file.sync();
            }
        } catch (IOException e) {
            if (!syncFailed) {
                syncFailed = true;
                options.platform.log("the recording may be lost if the device fails: " + e.getMessage());
            }
        }
    }

    /** Writes the END chunk and closes the file. */
    private void finish(boolean anotherPart) {
        // Not begin alone: an END that cannot be written is no loss to be counted.
        if (open() && begin()) {
            chunk.uv(chunks + groupChunks).uv(records).uv(overwritten).u8(anotherPart ? 1 : 0);
            add(END, 0, chunk);
            write();
        }
        if (file != null) {
            file.closeQuietly();
        }
    }

    /** Writes the END chunk and closes the file. It is the last part. If nothing was begun, no file is made. */
    @Override
    public void close() {
        // What could not be written is counted in the file, if it can be written by now.
        outage.tryNow();
        if (file != null || outage.lost() > 0) {
            finish(false);
        }
        if (outage.lost() > 0 && !ended) {
            options.platform.log("the recording is incomplete; chunks that could not be written: " + outage.lost());
        }
        frames.end();
    }
}
