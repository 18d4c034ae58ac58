package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a file has of steady samples, and where. */
class StackChunksTest {
    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();
    private Recorder recorder;
    private Path file;

    private ThreadTrace start(RecorderOptions options) {
        file = dir.resolve("r.tgd");
        recorder = Recorder.start(options.platform(platform).output(file.toFile()).ringRecords(1024));
        return recorder.thread(Thread.currentThread());
    }

    @AfterEach
    void stop() throws Exception {
        if (recorder != null) {
            Await.stop(recorder);
        }
    }

    private List<WrittenChunks.Chunk> stacks() throws Exception {
        return WrittenChunks.of(file, RecordingWriter.STACKS);
    }

    /** Returns the numbers of records right before the samples of a chunk, of one thread. */
    private static List<Long> records(WrittenChunks.Chunk c) {
        c.u8();
        for (long n = c.uv(); n > 0; n--) {
            c.uv();
            c.uv();
        }
        List<Long> all = new ArrayList<Long>();
        long record = 0;
        for (long n = c.uv(); n > 0; n--) {
            c.uv();
            c.sv();
            c.u8();
            c.uv();
            record += c.sv();
            all.add(record);
            c.uv();
            c.sv();
        }
        return all;
    }

    /** A method that R8 has inlined is known by the line alone, so a frame without one contradicted the calls of it. */
    @Test
    void framesOfShrunkClassesHaveLines() {
        for (String file : new String[] {null, "SourceFile", "r8-map-id-9bb16379"}) {
            assertTrue(StackChunks.isShrunk(new StackTraceElement("a.B", "m", file, 3)), file);
        }
        assertFalse(StackChunks.isShrunk(new StackTraceElement("a.B", "m", "B.java", 3)));
        assertFalse(StackChunks.isShrunk(new StackTraceElement("a.BKt", "m", "B.kt", 3)));
    }

    /** A reader must know a sample when it replays the records around it. */
    @Test
    @Timeout(600)
    void samplesPrecedeTheRecordsBehindThem() throws Exception {
        ThreadTrace main = start(new RecorderOptions().everyRecord(true));
        main.messageBegin("m");
        Await.until("there are samples", () -> {
            for (int k = 0; k < 100; k++) {
                AppMethodBeat.i(1);
                AppMethodBeat.o(1);
            }
            platform.pass(3);
            return stacks().size() > 20;
        });
        Await.stop(recorder);
        long end = 0;
        int samples = 0;
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, 0)) {
            if (c.type == RecordingWriter.RECORDS) {
                c.uv();
                long first = c.uv();
                c.uv();
                end = first + c.uv();
            } else if (c.type == RecordingWriter.STACKS) {
                for (long record : records(c)) {
                    assertTrue(record >= end, "a sample at record " + record + " behind records up to " + end);
                    samples++;
                }
            }
        }
        assertTrue(samples > 20 && end > 1000, samples + " samples, " + end + " records");
    }

    /** The process may be killed while a method hangs. */
    @Test
    void theSamplesOfAHangAreWrittenMeanwhile() throws Exception {
        ThreadTrace main = start(new RecorderOptions().everyRecord(true));
        main.messageBegin("m");
        for (int chunks = 1; chunks < 4; chunks++) {
            int enough = chunks;
            Await.until("a chunk with samples", () -> {
                platform.pass(20);
                return stacks().size() >= enough;
            });
        }
    }

    @Test
    void ofStallsAloneTheSamplesPrecedeTheStall() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        for (int k = 0; k < 3; k++) {
            main.messageBegin("short");
            for (int m = 0; m < 6; m++) {
                platform.pass(100);
                platform.awaitCheck();
            }
            main.messageEnd();
        }
        main.messageBegin("long");
        for (int m = 0; m < 6; m++) {
            platform.pass(100);
            platform.awaitCheck();
        }
        platform.pass(200);
        main.messageEnd();
        Await.until("the stall", () -> !WrittenChunks.of(file, RecordingWriter.STALL).isEmpty());
        Await.stop(recorder);
        StringBuilder order = new StringBuilder();
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, 0)) {
            if (c.type == RecordingWriter.STACKS) {
                order.append("stacks ");
                for (long record : records(c)) {
                    assertEquals(7, record, "each sample is of the fourth message");
                }
            } else if (c.type == RecordingWriter.RECORDS || c.type == RecordingWriter.STALL) {
                order.append(c.type == RecordingWriter.STALL ? "stall " : "records ");
            }
        }
        assertTrue(order.toString().matches("(stacks )+records stall "), order.toString());
    }

    private static SteadySample sample(ThreadTrace t, int k) {
        return sample(t, k, k);
    }

    private static SteadySample sample(ThreadTrace t, int k, long nanos) {
        return new SteadySample(t, nanos, Thread.State.RUNNABLE, new StackTraceElement[] {
            new StackTraceElement("a.B", "m" + k % 20000, null, -1), new StackTraceElement("a.B", "run", null, -1)},
                k, 0, -1);
    }

    /** Returns whether the table begins anew in each chunk, with the number of its new nodes. */
    private static String tables(Path of) throws Exception {
        StringBuilder b = new StringBuilder();
        for (WrittenChunks.Chunk c : WrittenChunks.of(of, RecordingWriter.STACKS)) {
            b.append(c.u8() == 1 ? "anew " : "").append(c.uv()).append("; ");
        }
        return b.toString();
    }

    /** There may be no memory in the middle: what was not written must not be referred to. */
    @Test
    void theTableBeginsAnewBehindAFailure() throws Exception {
        ThreadTrace main = start(new RecorderOptions().set("stacks", "off"));
        RecorderOptions o = new RecorderOptions().platform(platform).output(dir.resolve("w.tgd").toFile());
        try (RecordingWriter w = new RecordingWriter(o, 0, 1, new Disk())) {
            assertTrue(w.stacks.write(Arrays.asList(sample(main, 1))));
            SteadySample broken = new SteadySample(main, 2, Thread.State.RUNNABLE, new StackTraceElement[1], 2, 0, -1);
            assertThrows(NullPointerException.class, () -> w.stacks.write(Arrays.asList(sample(main, 2), broken)));
            assertTrue(w.stacks.write(Arrays.asList(sample(main, 2))));
        }
        assertEquals("anew 2; anew 2; ", tables(dir.resolve("w.tgd")));
    }

    /** Of a file that misses a chunk, the samples of half a minute are lost at most. */
    @Test
    void theTableBeginsAnewWhenItIsOld() throws Exception {
        ThreadTrace main = start(new RecorderOptions().set("stacks", "off"));
        RecorderOptions o = new RecorderOptions().platform(platform).output(dir.resolve("w.tgd").toFile());
        try (RecordingWriter w = new RecordingWriter(o, 0, 1, new Disk())) {
            for (long seconds : new long[] {100, 129, 130, 131, 159, 161}) {
                assertTrue(w.stacks.write(Arrays.asList(sample(main, 1, seconds * 1000000000L))));
            }
        }
        assertEquals("anew 2; 0; anew 2; 0; 0; anew 2; ", tables(dir.resolve("w.tgd")));
    }

    @Test
    void theTableBeginsAnewWhenItIsFullAndInEachFile() throws Exception {
        ThreadTrace main = start(new RecorderOptions().set("stacks", "off"));
        RecorderOptions o = new RecorderOptions().platform(platform).output(dir.resolve("w.tgd").toFile())
                .limit(1 << 20, 9);
        try (RecordingWriter w = new RecordingWriter(o, 0, 1, new Disk())) {
            for (int k = 0; k < 20000; k += 4000) {
                List<SteadySample> some = new ArrayList<SteadySample>();
                for (int m = k; m < k + 4000; m++) {
                    some.add(sample(main, m));
                }
                assertTrue(w.stacks.write(some));
            }
            assertTrue(w.stacks.write(Arrays.asList(sample(main, 19999), sample(main, 5))));
            while (!Files.exists(dir.resolve("w.part1.tgd"))) {
                w.calls.records(main, new RecordCopy(0, new java.util.Random(1).longs(60000).toArray(), 0));
            }
            assertTrue(w.stacks.write(Arrays.asList(sample(main, 19999))));
        }
        assertEquals("anew 4001; 4000; 4000; 4000; 4000; anew 3; ", tables(dir.resolve("w.part1.tgd")));
        assertEquals("anew 2; ", tables(dir.resolve("w.tgd")));
    }
}
