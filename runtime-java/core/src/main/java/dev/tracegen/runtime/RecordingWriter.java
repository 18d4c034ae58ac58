package dev.tracegen.runtime;

import java.io.Closeable;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.Map;

/**
 * Writes a recording in the format of trace/FORMAT.md: a header and chunks. Each chunk is written at once and never
 * changed, so that a file that was cut at any place is valid up to its last complete chunk.
 *
 * <p>A file that has reached its size is closed and renamed, and the next part is begun, which does not refer to it.
 * Not safe for concurrent use.
 *
 * <p>This class opens the files and puts chunks into them. The payloads are made by one class for each family of
 * chunks: between {@link #begin} and {@link #end} it fills {@link #chunk}.
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
    static final int STACKS = 23;
    static final int LET_GO = 24;
    static final int COROUTINES = 25;
    static final int COST = 26;
    static final int COMPOSITIONS = 27;

    private static final int MINOR = 6;

    /** The greatest number of strings in a file. A file with more is closed whatever its size. */
    private static final int MAX_STRINGS = 1 << 16;

    final RecorderOptions options;
    final long baseNanos;
    final Texts texts;

    /** The payload of the chunk that is being made, and that of those which must come before it. */
    final ChunkBytes chunk = new ChunkBytes();
    final ChunkBytes small = new ChunkBytes();

    final ThreadChunks calls;
    final MessageChunks messages;
    final TimeChunks times;
    final IncidentChunks found;
    final StackChunks stacks;

    private final Output output;
    private final Outage outage;
    private final ChunkFrames frames = new ChunkFrames();

    /**
     * The chunk that is being made with those that must come before it. They are written at once: nothing that the
     * chunk refers to may be missing, and what was not written must not be taken for written.
     */
    private final ChunkBytes group = new ChunkBytes();
    private int groupChunks;
    private long groupLost;

    private final StringTable strings = new StringTable();

    /** Null while no file is open. */
    private OpenFile file;

    private final long recordingId;
    private long fileId;
    private int part = 1;
    private boolean begun;
    private boolean ended;
    private boolean syncFailed;
    private int chunks;

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
        this.calls = new ThreadChunks(this);
        this.messages = new MessageChunks(this);
        this.times = new TimeChunks(this);
        this.found = new IncidentChunks(this);
        this.stacks = new StackChunks(this);
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
     * Opens the file of the current part, unless it is open, and writes its first chunks.
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
            times.beginFile();
            calls.letGoBefore();
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
        calls.beginFile();
        found.beginFile();
        stacks.beginFile();
        chunks = 0;
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

    /** Returns the number of a state, 0 for an unknown one. */
    static int code(Thread.State state) {
        return state == null ? 0 : 1 + state.ordinal();
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

    /** Reports whether a file is open. */
    boolean isOpen() {
        return file != null;
    }

    /** Reports whether the output was refused. Then nothing will be written. */
    boolean ended() {
        return ended;
    }

    /** Returns the ID of the file that is written now, or that will be written next. */
    long fileId() {
        return fileId;
    }

    /**
     * Begins a chunk. Opens the file if it is not open, and puts chunks before this one that must come first.
     *
     * @param about the threads that the chunk refers to
     * @return false, and the chunk counts as lost, if nothing can be written now
     */
    boolean begin(ThreadTrace... about) {
        if (!open()) {
            outage.lose();
            return false;
        }
        beginGroup();
        if (outage.lost() > 0) {
            groupLost = outage.lost();
            small.size = 0;
            small.uv(1).uv(0).u8(Dropped.CHUNKS).uv(groupLost);
            add(DROPPED, 0, small);
        }
        for (ThreadTrace t : about) {
            calls.introduce(t);
        }
        chunk.size = 0;
        return true;
    }

    private void beginGroup() {
        group.size = 0;
        groupChunks = 0;
        groupLost = 0;
        calls.beginGroup();
        found.beginGroup();
    }

    /** Returns the number of a string in this file. New strings are written before the current chunk. */
    int string(String s) {
        return strings.number(s);
    }

    /** Puts a chunk before the one that is being made. */
    void add(int type, int flags, ChunkBytes payload) {
        frames.chunk(group, type, flags, chunks + groupChunks, payload);
        groupChunks++;
    }

    /**
     * Writes the chunk, and those that come before it, with one system call.
     *
     * @return false if that failed, and the chunk counts as lost
     */
    boolean end(int type, int flags) {
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
        if (file.size() >= output.fileBytes() || strings.size() >= MAX_STRINGS) {
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
            return false;
        }
    }

    /** Notes that the group is in the file. */
    private void written() {
        chunks += groupChunks;
        strings.written();
        calls.written();
        found.written();
        outage.wrote(groupLost);
    }

    private void nextPart() {
        file = null;
        fileId++;
        part++;
    }

    /** Waits until what was written is on the disk. */
    void sync() {
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
            chunk.uv(chunks + groupChunks).uv(calls.records()).uv(calls.overwritten()).u8(anotherPart ? 1 : 0);
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
