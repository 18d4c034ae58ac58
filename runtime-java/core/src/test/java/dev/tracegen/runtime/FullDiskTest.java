package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that is full or fails costs what could not be written meanwhile, and nothing else. */
class FullDiskTest {
    @TempDir
    Path dir;

    private final DiskScenario.Clock clock = new DiskScenario.Clock();
    private Recorder recorder;
    private Path output;

    @BeforeEach
    void start() {
        recorder = Recorder.start(new RecorderOptions().platform(clock).ringRecords(1024));
        output = dir.resolve("r.tgd");
    }

    @AfterEach
    void stop() throws Exception {
        Await.stop(recorder);
    }

    /** A disk that can be made full. */
    private static final class SmallDisk extends Disk {
        boolean full;
        int attempts;

        @Override
        void write(FileOutputStream stream, byte[] bytes, int size) throws IOException {
            attempts++;
            if (full) {
                super.write(stream, bytes, size / 2);
                throw new IOException("No space left on device");
            }
            super.write(stream, bytes, size);
        }
    }

    private RecordingWriter writer(Disk disk) throws IOException {
        RecorderOptions o = new RecorderOptions().platform(clock).output(output.toFile()).everyRecord(true);
        return new RecordingWriter(o, 0, 1, disk);
    }

    private ThreadTrace trace(int index) {
        return new ThreadTrace(recorder, new Thread("t" + index), index, false, true);
    }

    private static RecordCopy record(long number) {
        return new RecordCopy(number, new long[] {Ring.ENTRY | 1L << Ring.ID_SHIFT}, 0);
    }

    private String dropped() throws Exception {
        StringBuilder b = new StringBuilder();
        for (WrittenChunks.Chunk c : WrittenChunks.of(output, RecordingWriter.DROPPED)) {
            b.append(c.uv() + " " + c.uv() + " " + c.u8() + " " + c.uv() + ";");
        }
        return b.toString();
    }

    @Test
    void whatCouldNotBeWrittenIsCountedAndSaidOnce() throws Exception {
        SmallDisk disk = new SmallDisk();
        RecordingWriter w = writer(disk);
        ThreadTrace t = trace(1);
        assertTrue(w.calls.records(t, record(0)));
        disk.full = true;
        long size = Files.size(output);
        for (int k = 1; k <= 5; k++) {
            assertFalse(w.calls.records(t, record(k)));
            assertEquals(size, Files.size(output), "half a chunk remains");
        }
        disk.full = false;
        assertFalse(w.calls.records(t, record(6)), "it is tried again at once");
        clock.nanos += 1000000000L;
        assertTrue(w.calls.records(t, record(7)));
        w.close();
        assertEquals("+1 !6 #7 +1", WrittenChunks.records(output, 1));
        assertEquals("1 0 7 6;", dropped());
        assertEquals("the recording cannot be written, and the program runs on; it is tried again: No space left on"
                + " device\nthe recording goes on; chunks that could not be written: 6\n", clock.logged.toString());
    }

    @Test
    void attemptsBecomeRarer() throws Exception {
        SmallDisk disk = new SmallDisk();
        disk.full = true;
        RecordingWriter w = writer(disk);
        ThreadTrace t = trace(1);
        StringBuilder seconds = new StringBuilder();
        for (int second = 0; second < 200; second++) {
            int before = disk.attempts;
            w.calls.records(t, record(second));
            seconds.append(disk.attempts > before ? second + " " : "");
            clock.nanos += 1000000000L;
        }
        assertEquals("0 1 3 7 15 31 63 123 183 ", seconds.toString());
        assertEquals(0, dir.toFile().list().length, "a file that is no recording remains");
        disk.full = false;
        w.close();
        assertEquals("1 0 7 200;", dropped());
        assertEquals(1, WrittenChunks.of(output, RecordingWriter.END).size());
    }

    /** Everything that a chunk refers to is in the file before it, although what said so first was not written. */
    @Test
    void namesThreadsAndGatesAreWrittenAgain() throws Exception {
        SmallDisk disk = new SmallDisk();
        RecordingWriter w = writer(disk);
        ThreadTrace t = trace(1);
        w.open();
        disk.full = true;
        w.calls.gate(t, new Gate.Change(null, 5, 10, new int[] {7, 8}));
        w.calls.gate(t, new Gate.Change(null, 6, 20, new int[] {-7, 9}));
        MessageRecord m = new MessageRecord(MessageRecord.NORMAL, 0, 1, 0, 0, -1, "com.example.Handler: 1", 0, 0);
        w.messages.ran(t, Collections.singletonList(m));
        disk.full = false;
        clock.nanos += 1000000000L;
        w.messages.ran(t, Collections.singletonList(m));
        w.calls.records(t, record(30));
        w.close();
        StringBuilder types = new StringBuilder();
        for (WrittenChunks.Chunk c : WrittenChunks.of(output, 0)) {
            types.append(c.type).append(' ');
        }
        assertEquals("1 2 19 3 12 4 6 5 11 ", types.toString());
        WrittenChunks.Chunk gate = WrittenChunks.of(output, RecordingWriter.GATE).get(0);
        assertEquals("5 2 8 1 9 1 1 1 10", gate.sv() + " " + gate.uv() + " " + gate.uv() + " " + gate.u8() + " "
                + gate.uv() + " " + gate.u8() + " " + gate.uv() + " " + gate.uv() + " " + gate.uv());
    }

    @Test
    void everyFailureLeavesRecordingsThatFollowEachOther() throws Exception {
        DiskScenario.main(new String[] {dir.toString()});
        int complete = 0;
        for (File of : dir.toFile().listFiles()) {
            for (File f : of.listFiles()) {
                assertTrue(OutputFile.isRecording(f), f + " is no recording");
                if (of.getName().startsWith(DiskScenario.Fault.WRITE_AND_CUT.name())) {
                    // The chunks that were written by half are a matter of the Go reader.
                    continue;
                }
                List<WrittenChunks.Chunk> all = WrittenChunks.of(f.toPath(), RecordingWriter.META);
                assertEquals(1, all.size(), f.toString());
            }
            complete += of.getName().startsWith(DiskScenario.Fault.WRITE_AND_CUT.name()) ? 0
                    : WrittenChunks.of(of.toPath().resolve("r.tgd"), RecordingWriter.END).size();
        }
        assertTrue(complete > 50, complete + " recordings were closed");
    }

    @Test
    void aRecordingOfStallsBeginsWithTheFirstStall() throws Exception {
        Files.write(output, "TGD1 of the run before".getBytes("US-ASCII"));
        RecordingWriter w = new RecordingWriter(new RecorderOptions().platform(clock).output(output.toFile()), 0, 1,
                new Disk());
        ThreadTrace t = trace(1);
        w.calls.gate(t, new Gate.Change(null, 5, 10, new int[] {7}));
        w.calls.leftOut(1, new int[] {7}, new long[] {1});
        assertFalse(w.found.dropped(new long[] {0, 0, 3}));
        w.messages.ran(t, Collections.singletonList(
                new MessageRecord(MessageRecord.NORMAL, 0, 1, 0, 0, -1, "com.example.Handler: 1", 0, 0)));
        OpenCall brief = new OpenCall(t, 0, MessageRecord.NORMAL, null, clock.nanos - 600000000L,
                Thread.State.RUNNABLE, -1);
        w.messages.alive(clock.nanos, 0, Collections.singletonList(brief));
        assertEquals("[r.tgd]", java.util.Arrays.toString(dir.toFile().list()));
        OpenCall slow = new OpenCall(t, 0, MessageRecord.NORMAL, null, clock.nanos - 700000000L,
                Thread.State.RUNNABLE, -1);
        w.messages.alive(clock.nanos, 0, Collections.singletonList(slow));
        assertEquals(2, dir.toFile().list().length);
        assertTrue(w.found.dropped(new long[] {0, 0, 3}));
        w.close();
        StringBuilder types = new StringBuilder();
        for (WrittenChunks.Chunk c : WrittenChunks.of(output, 0)) {
            types.append(c.type).append(' ');
        }
        assertEquals("1 2 3 12 13 19 11 ", types.toString());
    }
}
