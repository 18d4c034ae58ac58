package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.zip.Inflater;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Writes the test vectors that the Go package trace reads, and compares them with those in the repository.
 * {@code -Dtracegen.update=true} updates those in the repository.
 */
class RecordingWriterTest {
    /** How the texts of a Looper begin. */
    private static final String PRINTED = ">>>>> Dispatching to ";

    private static final Path VECTORS = new File("../../trace/testdata/vectors").toPath();

    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();
    private TimeZone zone;
    private Recorder recorder;

    @BeforeEach
    void start() {
        zone = TimeZone.getDefault();
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024));
    }

    @AfterEach
    void stop() {
        recorder.stop();
        TimeZone.setDefault(zone);
    }

    private RecordingWriter writer(RecorderOptions options, long id) throws Exception {
        RecordingWriter w = new RecordingWriter(options, 1000000000L, id, new Disk());
        w.open();
        return w;
    }

    private RecorderOptions options(String name) {
        return new RecorderOptions().platform(platform).output(dir.resolve(name).toFile()).tickNanos(1000000)
                .meta("process", "vector");
    }

    private ThreadTrace trace(String name, int index) {
        // The Java ID must not depend on the number of threads.
        return new ThreadTrace(recorder, new Thread(name) {
            @Override
            public long getId() {
                return 41;
            }
        }, index, index == 0, true);
    }

    private static long[] calls(int n) {
        long[] records = new long[n];
        for (int k = 0; k < n; k++) {
            long id = k % 2 == 0 ? 1 + (long) k * 7919 % 1048573 : 1 + (long) (k - 1) * 7919 % 1048573;
            records[k] = (k % 2 == 0 ? Ring.ENTRY : 0) | id << Ring.ID_SHIFT | k / 5;
        }
        return records;
    }

    @Test
    void everyChunk() throws Exception {
        RecordingWriter w = writer(options("every.tgd"), 0x1122334455667788L);
        ThreadTrace main = trace("main", 0);
        ThreadTrace other = trace("r\u00e9seau \ud83d\ude80", 3);
        w.calls.records(main,
                new RecordCopy(0, CallTreeTest.records("+D@0 +1@5 +1048573@6 -1048573@9 -1@20 -D@30"), 0));
        w.calls.records(other, new RecordCopy(77, new long[] {Ring.ENTRY | Ring.TIME_MASK, 0, -1L}, 5));
        List<MessageRecord> history = new ArrayList<MessageRecord>();
        history.add(new MessageRecord(MessageRecord.MERGED, 0, 12, 1000000000L, 40000000L, 39000000L,
                PRINTED + "Handler (a.B) {1f} null: 0", 0, 0));
        history.add(new MessageRecord(MessageRecord.IDLE, 0, 0, 1040000000L, 500000000L, 0, "", 0, 0));
        history.add(new MessageRecord(MessageRecord.SYSTEM, 12, 1, 1540000000L, 20000000L, -1,
                PRINTED + "Handler (android.app.ActivityThread$H) {2} null: 159", 0, 0));
        w.messages.ran(main, history);
        w.messages.sample(new StackSample(main, 2000000000L, Thread.State.BLOCKED, new StackTraceElement[] {
            new StackTraceElement("a.B", "wait", "B.java", 7),
                    new StackTraceElement("a.B", "run", null, -2)}, 3000000L,
                new LockWait("a.Lock", 0xf0000001, null), other));
        w.messages.sample(new StackSample(other, 2000001000L, Thread.State.RUNNABLE, new StackTraceElement[0], -1, null,
                null));
        w.messages.pending(main, 13, Arrays.asList(new PendingMessage(1999000000L, -3, "a.B", "a.C", 9, true),
                new PendingMessage(2000000000L, 0, null, null, 5, false)));
        w.messages.pending(other, 0, null);
        StallFacts facts = new StallFacts(13, -1, -1);
        facts.state = Thread.State.BLOCKED;
        facts.lockOwner = "other holds a.Lock";
        facts.scene = "a.Screen";
        facts.foreground = true;
        facts.gcCount = 2;
        facts.gcMillis = 14;
        MessageRecord m = new MessageRecord(MessageRecord.NORMAL, 13, 1, 1300000000L, 900000000L, 4000000L,
                PRINTED + "Handler (a.B) {1f} null: 1", 1048573, 1180000000L, 0, 6);
        CallTree tree = new CallTree(CallTreeTest.records("+D@0 +1@5 +2@6 -1@20 -D@900"), 900);
        w.messages.stall(main, new Stall(main, m, facts, tree, history, null), m);
        w.found.frames(Arrays.asList(new FrameTiming(1, 2, 20000000, 1, 59.94f),
                new FrameTiming(-1, 0, 1, 0, 0)));
        platform.pass(500);
        w.times.clock();
        w.close();
        compare("every.tgd");
    }

    /** An incident that is reported twice, detectors, and stalls that are no messages. */
    @Test
    void incidents() throws Exception {
        RecordingWriter w = writer(options("incidents.tgd").meta("slowIdleMillis", "2000")
                .meta("slowInputMillis", "300"), 8);
        ThreadTrace main = trace("main", 0);
        Map<String, String> states = new TreeMap<String, String>();
        states.put("anr", "on");
        states.put("sync-barrier", "on");
        states.put("frames", "not available: needs API 24");
        w.calls.records(main, new RecordCopy(0, CallTreeTest.records("+D@0 +1@5 +2@6 -2@1900 -1@1990 -D@2000"), 0));
        Incident.Builder lag = recorder.incident("anr", "lag").thread(main).what("Handler (a.B) {1f} null: 1")
                .begin(1000000000L).records(0, 3).scene("a.Screen").fact("limit-millis", 2000)
                .fact("limit-of", "lag").stack(ThreadStack.of("main", 3000000000L, Thread.State.RUNNABLE,
                        new StackTraceElement[] {new StackTraceElement("a.B", "load", "B.java", 7),
                                new StackTraceElement("a.B", "run", null, -2)}));
        report(w, lag, states);
        report(w, recorder.incident("sync-barrier", "sync-barrier").begin(-5).end(8000000000L).fact("token", 77)
                .fact("r\u00e9sum\u00e9", "\ud83d\ude80").stack(ThreadStack.of("other", 1, null,
                        new StackTraceElement[0])), states);
        states = new TreeMap<String, String>(states);
        states.put("anr", "off, because it failed: java.lang.Error: x");
        report(w, lag.end(3100000000L).records(0, 6).fact("confirmed-by", "age"), states);
        StallFacts facts = new StallFacts(14, -1, -1);
        CallTree none = new CallTree(new long[0], 0);
        MessageRecord idle = new MessageRecord(5, 14, 1, 4000000000L, 2500000000L, -1, "IdleHandler a.B$1", 6, 6);
        MessageRecord input = new MessageRecord(6, 15, 1, 7000000000L, 350000000L, 340000000L, "input a.Screen", 6, 6);
        w.messages.ran(main, Arrays.asList(idle, input));
        w.messages.stall(main, new Stall(main, idle, facts, none, new ArrayList<MessageRecord>(), null), idle);
        w.messages.stall(main, new Stall(main, input, facts, none, new ArrayList<MessageRecord>(), null), input);
        MessageRecord system = new MessageRecord(MessageRecord.SYSTEM, 16, 1, 7500000000L, 900000000L, -1, "", 6, 6);
        w.messages.stall(main, new Stall(main, system, facts, none, new ArrayList<MessageRecord>(), null), system);
        assertTrue(w.found.dropped(new long[] {0, 0, 0, 0, 0, 0, 0, 0, 3}));
        w.close();
        compare("incidents.tgd");
    }

    private static void report(RecordingWriter w, Incident.Builder b, Map<String, String> states) {
        w.found.incident(b.build(), states);
    }

    @Test
    void manyRecords() throws Exception {
        RecordingWriter w = writer(options("many.tgd").tickNanos(1000).clockPeriodMillis(0), 2);
        w.calls.records(trace("main", 0), new RecordCopy(10, calls(70000), 10));
        w.close();
        compare("many.tgd");
    }

    @Test
    void withoutEnd() throws Exception {
        RecordingWriter w = writer(options("open.tgd"), 3);
        w.calls.records(trace("main", 0), new RecordCopy(0, calls(10), 0));
        compare("open.tgd");
        w.close();
    }

    @Test
    void signsOfLife() throws Exception {
        RecordingWriter w = writer(options("alive.tgd"), 4);
        ThreadTrace main = trace("main", 0);
        w.calls.records(main, new RecordCopy(0, CallTreeTest.records("+1@5 +2@5"), 0));
        w.messages.alive(2000000000L, 1795000005000L, Arrays.asList(
                new OpenCall(main, 0, MessageRecord.NORMAL, PRINTED + "Handler (a.B) {1f} null: 1",
                        1005000000L, Thread.State.TIMED_WAITING, 3000000L),
                new OpenCall(trace("other", 2), 7, MessageRecord.NORMAL, null, 900000000L, Thread.State.RUNNABLE, -1)));
        platform.pass(1000);
        w.messages.alive(3000000000L, 1795000006000L, new ArrayList<OpenCall>());
        compare("alive.tgd");
        w.close();
    }

    private static SteadySample steady(ThreadTrace t, long nanos, Thread.State state, long record, long records,
            long cpu, String... outermostFirst) {
        StackTraceElement[] stack = new StackTraceElement[outermostFirst.length];
        for (int k = 0; k < stack.length; k++) {
            String[] f = outermostFirst[k].split(" ");
            stack[stack.length - 1 - k] = new StackTraceElement(f[0], f[1], f[2].equals("-") ? null : f[2],
                    Integer.parseInt(f[3]));
        }
        return new SteadySample(t, nanos, state, stack, record, records, cpu);
    }

    /** Steady samples of two threads; the table of stacks begins anew; one with lines, as on Android. */
    @Test
    void steadySamples() throws Exception {
        RecordingWriter w = writer(options("stacks.tgd"), 9);
        w.stacks.lines = false;
        ThreadTrace main = trace("main", 0);
        ThreadTrace other = trace("other", 3);
        String run = "a.B run B.java 7";
        String load = "a.B load B.java 12";
        assertTrue(w.stacks.write(Arrays.asList(
                steady(main, 1005000000L, Thread.State.RUNNABLE, 1, 0, 3000000L, run, load),
                steady(other, 1006000000L, Thread.State.BLOCKED, 77, 0, -1, "a.C run - -2"),
                steady(main, 1025000000L, Thread.State.WAITING, 2, 1, 4000000L, run, load,
                        "java.lang.Object wait Object.java -2"),
                steady(main, 1024000000L, Thread.State.TIMED_WAITING, 2, 0, -1, run, "a.B load B.java 99"),
                steady(main, 1046000000L, null, 2, 0, 4000000L))));
        w.calls.records(main, new RecordCopy(0, CallTreeTest.records("+D@0 +1@5 +2@20 -2@30"), 0));
        assertTrue(w.stacks.write(Arrays.asList(
                steady(other, 1050000000L, Thread.State.TERMINATED, 90, 1L << 40, 7),
                steady(other, 1051000000L, Thread.State.NEW, 80, 2, 7, "a.C run - -2", load))));
        w.calls.records(other, new RecordCopy(77, CallTreeTest.records("+3@40 -3@50"), 0));
        // As if the table were full.
        w.stacks.beginFile();
        w.stacks.lines = true;
        assertTrue(w.stacks.write(Arrays.asList(
                steady(main, 1060000000L, Thread.State.RUNNABLE, 4, 3, 5000000L, run, load),
                steady(main, 1061000000L, Thread.State.RUNNABLE, 4, 3, 5000000L, run, "a.B load B.java 99"))));
        w.calls.records(main, new RecordCopy(4, CallTreeTest.records("-1@60 -D@70"), 0));
        compare("stacks.tgd");
        w.close();
    }

    @Test
    void callsThatAreLeftOut() throws Exception {
        RecordingWriter w = writer(options("gate.tgd"), 5);
        ThreadTrace main = trace("main", 0);
        w.calls.gate(main, new Gate.Change(null, 1000000000L, 0, new int[] {7, 1048573}));
        w.calls.records(main, new RecordCopy(0, CallTreeTest.records("+1@5 +2@6 -2@7"), 0));
        w.calls.window(main, new Window.Closed(7, 90, 3, 5, 1234567));
        w.calls.gate(main, new Gate.Change(null, 1080000000L, 3, new int[] {-7, 9}));
        w.calls.records(main, new RecordCopy(3, CallTreeTest.records("+3@20 -3@80 +7@90 -7@90 -1@91"), 0));
        w.calls.leftOut(1100000000L, new int[] {7, 1048573}, new long[] {1L << 40, 3});
        w.calls.letGo(new LetGo.Change(1110000000L, new int[] {9, 1048573, -9}));
        compare("gate.tgd");
        w.close();
    }

    /** A suspended call that another thread resumes, a lambda, and marks that are lost, once a whole chunk. */
    @Test
    void coroutines() throws Exception {
        RecordingWriter w = writer(options("coroutines.tgd"), 10);
        ThreadTrace main = trace("main", 0);
        ThreadTrace other = trace("other", 3);
        w.calls.coroutines(main, new long[] {1, mark(Marks.CONTINUES, 1, 0xCAFE0001), 2, mark(Marks.STARTS, 7, 2),
            2, mark(Marks.SUSPENDS, 1, 0)});
        w.calls.records(main, new RecordCopy(0, CallTreeTest.records("+9@0 +1@5 -1@6 -9@7"), 0));
        w.calls.coroutines(other, new long[] {0, mark(Marks.RESUMES, 7, 2), 1, mark(Marks.RESUMES, 1, 0xCAFE0001),
            3, 0xFFFFFFFFL, 3, mark(Marks.SUSPENDS, 7, 0)});
        w.calls.records(other, new RecordCopy(0, CallTreeTest.records("+7@8 +1@9 -1@10 -7@11"), 0));
        main.writtenMarks += 3;
        w.calls.records(main, new RecordCopy(4, CallTreeTest.records("+1@12 -1@13"), 0));
        w.calls.coroutines(main, new long[] {6, mark(Marks.RESUMES, 1048573, -1)});
        w.calls.records(main, new RecordCopy(6, CallTreeTest.records("+1048573@14 -1048573@15"), 0));
        compare("coroutines.tgd");
        w.close();
    }

    @Test
    void compositions() throws Exception {
        RecordingWriter w = writer(options("compositions.tgd"), 11);
        Recorder recorder = new Recorder(new RecorderOptions().platform(new VirtualPlatform()));
        ThreadTrace main = recorder.threads.main();
        Compositions composed = main.compositions();
        composed.begin("a.Screen (A.kt:3)", 1, -1, 1000000000L);
        composed.begin("a.Row (A.kt:9)", 0b10_01_10_1, 0x7FFFFFFF, 1002000000L);
        composed.end(1003000000L);
        composed.end(1009000000L);
        w.calls.compositions(main, composed.take(), 0);
        w.calls.records(main, new RecordCopy(0, CallTreeTest.records("+9@0 +1@5 -1@6 -9@7"), 0));
        w.calls.compositions(main, new long[] {5L, 1L << 40, 1L << 32, 4, 1, Long.MIN_VALUE}, 1L << 33);
        compare("compositions.tgd");
        w.close();
    }

    private static long mark(int kind, int id, int hash) {
        return (long) kind << 52 | (long) id << 32 | hash & 0xFFFFFFFFL;
    }

    @Test
    void aProcessThatDidNotRunAndWasKilled() throws Exception {
        RecordingWriter w = writer(options("killed.tgd"), 7);
        ThreadTrace main = trace("main", 0);
        w.calls.records(main, new RecordCopy(0, CallTreeTest.records("+D@0 +1@5 +2@5"), 0));
        w.times.suspended(Arrays.asList(new Suspensions.Time(1010000000L, 61010000000L, Suspensions.STOPPED),
                new Suspensions.Time(61020000000L, 61030000000L, Suspensions.DEBUGGED)));
        assertTrue(w.times.late(new long[] {1000000000L, 1120000000L, 1130000000L, 1131000000L}));
        assertTrue(w.found.dropped(new long[] {0, 5, 0, 1L << 40, 0, 0, 0, 0}));
        w.messages.alive(62000000000L, 1795000066000L, Arrays.asList(
                new OpenCall(main, 0, MessageRecord.NORMAL, PRINTED + "Handler (a.B) {1f} null: 1",
                        1000000000L, Thread.State.BLOCKED, 3000000L)));
        // This process keeps its claim to the file that it writes.
        Files.copy(dir.resolve("killed.tgd"), dir.resolve("survived.tgd"));
        UnfinishedRecording killed = UnfinishedRecording.open(dir.resolve("survived.tgd").toFile());
        java.util.Map<String, String> exit = new java.util.HashMap<String, String>();
        exit.put("reason", "anr");
        exit.put("description", "Input dispatching timed out");
        exit.put("wallMillis", "1795000067000");
        killed.append(exit, new RecorderOptions());
        killed.close();
        compare("survived.tgd");
        w.close();
    }

    /** A file that is rotated refers to nothing in the one before, so it begins with the methods that are off. */
    @Test
    void theNextFileHasTheGate() throws Exception {
        RecordingWriter w = writer(options("g.tgd").limit(1, 2), 6);
        ThreadTrace main = trace("main", 0);
        w.calls.gate(main, new Gate.Change(null, 1000000000L, 10, new int[] {7, 8}));
        w.calls.gate(main, new Gate.Change(null, 1000000000L, 20, new int[] {-7}));
        main.writtenMarks = 3;
        w.calls.records(main, new RecordCopy(0, new java.util.Random(1).longs(65536).toArray(), 0));
        w.calls.coroutines(main, new long[] {65536, mark(Marks.STARTS, 7, 2), 65536, 5,
            65537, mark(Marks.STARTS, 7, 2)});
        w.calls.records(main, new RecordCopy(65536, new long[] {Ring.ENTRY | 1L << Ring.ID_SHIFT}, 0));
        w.calls.coroutines(main, new long[] {65537, mark(Marks.STARTS, 7, 2)});
        w.close();
        long[] first = new long[2];
        for (int k = 0; k < 2; k++) {
            WrittenChunks.Chunk c = WrittenChunks.of(dir.resolve("g.tgd"), RecordingWriter.COROUTINES).get(k);
            assertEquals(0, c.uv());
            first[k] = c.uv();
        }
        assertEquals("[3, 10]", Arrays.toString(first), "the numbers of marks go on in the next file");
        List<WrittenChunks.Chunk> all = WrittenChunks.of(dir.resolve("g.tgd"), RecordingWriter.GATE);
        assertEquals(1, all.size());
        WrittenChunks.Chunk c = all.get(0);
        c.sv();
        assertEquals("1 8 1 1 0 0", c.uv() + " " + c.uv() + " " + c.u8() + " " + c.uv() + " " + c.uv() + " "
                + c.uv());
    }

    @Test
    void fullFilesAreRenamedAndTheOldestIsDeleted() throws Exception {
        byte[] earlier = {'T', 'G', 'D', '1', 5};
        Files.write(dir.resolve("r.tgd"), earlier);
        RecordingWriter w = writer(options("r.tgd").limit(1, 3), 4);
        assertArrayEquals(earlier, Files.readAllBytes(dir.resolve("r.tgd.1")));
        ThreadTrace main = trace("main", 0);
        for (int k = 0; k < 6; k++) {
            w.calls.records(main, new RecordCopy(k * 65536L, new java.util.Random(k).longs(65536).toArray(), 0));
        }
        w.close();
        String[] names = dir.toFile().list();
        Arrays.sort(names);
        assertEquals("r.part5.tgd r.part6.tgd r.tgd", String.join(" ", names));
        long size = Files.size(dir.resolve("r.part6.tgd"));
        assertTrue(size > 65536 && size < 65536 + 65536 * 14, size + " bytes");
        // The renamed file is closed, and the next one does not refer to it.
        assertEquals(11, lastType(Files.readAllBytes(dir.resolve("r.part6.tgd"))));
        assertEquals(11, lastType(Files.readAllBytes(dir.resolve("r.tgd"))));
        assertEquals("0000000000000004 6 4 another", partOf("r.part6.tgd"));
        assertEquals("0000000000000004 7 5 the last", partOf("r.tgd"));
    }

    /** Returns what a file says of the recording that it is a part of. */
    private String partOf(String name) throws Exception {
        WrittenChunks.Chunk meta = WrittenChunks.of(dir.resolve(name), RecordingWriter.META).get(0);
        java.util.Map<String, String> values = new java.util.HashMap<String, String>();
        for (long n = meta.uv(); n > 0; n--) {
            String key = meta.str();
            values.put(key, meta.str());
        }
        WrittenChunks.Chunk end = WrittenChunks.of(dir.resolve(name), RecordingWriter.END).get(0);
        end.uv();
        end.uv();
        end.uv();
        return values.get("recordingId") + " " + values.get("part") + " " + values.get("firstPart")
                + (end.u8() == 1 ? " another" : " the last");
    }

    private static int lastType(byte[] file) {
        ByteBuffer b = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        int type = 0;
        for (int at = 32; at < file.length; at += 20 + b.getInt(at + 8) + 3 & ~3) {
            type = b.getShort(at + 4);
        }
        return type;
    }

    private void compare(String name) throws Exception {
        byte[] made = Files.readAllBytes(dir.resolve(name));
        Path vector = VECTORS.resolve(name);
        if (Boolean.getBoolean("tracegen.update")) {
            Files.createDirectories(VECTORS);
            Files.write(vector, made);
        }
        assertArrayEquals(inflated(Files.readAllBytes(vector)), inflated(made), name);
    }

    /**
     * Returns a recording with its chunks inflated and without sizes and checksums, because zlib versions deflate
     * differently.
     */
    private static byte[] inflated(byte[] file) throws Exception {
        ByteBuffer b = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(file, 0, 32);
        for (int at = 32; at < file.length;) {
            int size = b.getInt(at + 8);
            out.write(file, at, 8);
            out.write(file, at + 12, 4);
            if ((b.getShort(at + 6) & 1) != 0) {
                byte[] all = new byte[b.getInt(at + 20)];
                Inflater inflater = new Inflater(true);
                inflater.setInput(file, at + 24, size - 4);
                assertEquals(all.length, inflater.inflate(all));
                inflater.end();
                out.write(all, 0, all.length);
            } else {
                out.write(file, at + 20, size);
            }
            at += 20 + size + 3 & ~3;
        }
        return out.toByteArray();
    }
}
