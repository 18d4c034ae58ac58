package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the file of a process has while a call hangs, so that it is there whatever ends the process. */
class SignsOfLifeTest {
    private static final long SECOND = 1000000000L;

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
        Await.stop(recorder);
    }

    /** Waits until the file has a chunk 13 that was written at this time of the virtual clock or later. */
    private WrittenChunks.Chunk alive(long nanos) throws Exception {
        WrittenChunks.Chunk[] found = new WrittenChunks.Chunk[1];
        Await.until("there is a sign of life at " + nanos, () -> {
            List<WrittenChunks.Chunk> all = WrittenChunks.of(file, RecordingWriter.ALIVE);
            found[0] = all.isEmpty() ? null : all.get(all.size() - 1);
            return found[0] != null && found[0].sv() >= nanos;
        });
        return found[0];
    }

    @Test
    void aMessageThatHangsLeavesSignsAndItsRecords() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        AppMethodBeat.i(9);
        main.messageBegin("m");
        AppMethodBeat.i(1);
        long begin = platform.nanoTime();
        platform.cpu.set(77);
        platform.pass(650);
        platform.awaitCheck();
        assertEquals(0, WrittenChunks.of(file, RecordingWriter.ALIVE).size(), "signs of a message that is not slow");
        platform.pass(50);
        WrittenChunks.Chunk c = alive(begin + 700000000L);
        assertEquals(1795000000000L + platform.nanoTime() / 1000000, c.sv());
        assertEquals(1, c.uv());
        assertEquals(0, c.uv());
        assertEquals(0, c.uv());
        assertEquals(begin, c.sv());
        // This thread waits, reads the file, or waits for a class.
        int state = c.u8();
        assertTrue(state > 1 + Thread.State.NEW.ordinal() && state < 1 + Thread.State.TERMINATED.ordinal());
        assertEquals(-1, c.sv());
        assertEquals("#1 +1048574 +1", WrittenChunks.records(file, 0));
        AppMethodBeat.i(2);
        platform.pass(100);
        alive(begin + 800000000L);
        assertEquals("#1 +1048574 +1 +2", WrittenChunks.records(file, 0));
        for (int k = 0; k < 10; k++) {
            platform.pass(6000);
            alive(platform.nanoTime());
        }
        int signs = WrittenChunks.of(file, RecordingWriter.ALIVE).size();
        assertTrue(signs < 20, signs + " signs");
        AppMethodBeat.o(2);
        AppMethodBeat.o(1);
        main.messageEnd();
        Await.until("the stall is written", () -> !WrittenChunks.of(file, RecordingWriter.STALL).isEmpty());
        assertEquals("#1 +1048574 +1 +2 -2 -1 -1048574", WrittenChunks.records(file, 0));
    }

    @Test
    void anOrderlyEndIsASignOfAllOpenCalls() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        main.messageBegin("m");
        platform.pass(10);
        Await.stop(recorder);
        List<WrittenChunks.Chunk> all = WrittenChunks.of(file, RecordingWriter.ALIVE);
        assertEquals(1, all.size());
        assertEquals(platform.nanoTime(), all.get(0).sv());
        all.get(0).sv();
        assertEquals(1, all.get(0).uv());
    }

    private void awaitRecords(String want) throws Exception {
        Await.until("the file has " + want, () -> WrittenChunks.records(file, 0).equals(want));
    }

    @Test
    void aHangDeepInALongCallHasItsOwnSignsAndSamples() throws Exception {
        RecorderOptions o = new RecorderOptions().everyRecord(true);
        o.outermostCalls = true;
        start(o);
        AppMethodBeat.i(1);
        awaitRecords("+1");
        platform.pass(1000000);
        alive(platform.nanoTime());
        AppMethodBeat.i(2);
        awaitRecords("+1 +2");
        // The time without a record begins when the recorder sees that there was one.
        platform.awaitCheck();
        int samples = WrittenChunks.of(file, RecordingWriter.SAMPLES).size();
        long begin = platform.nanoTime();
        // The call has lasted 1,000 s, so without the time since the last record the next sample would be 250 s away.
        for (int k = 1; k <= 4; k++) {
            platform.pass(1000);
            alive(begin + k * SECOND);
            platform.awaitCheck();
        }
        int more = WrittenChunks.of(file, RecordingWriter.SAMPLES).size() - samples;
        assertTrue(more >= 3, more + " samples in 4 s without a record");
    }
}
