package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a recording says of what it has cost. */
class CostTest {
    @TempDir
    Path dir;

    private List<WrittenChunks.Chunk> recorded(long processCpu) throws Exception {
        VirtualPlatform platform = new VirtualPlatform();
        platform.cpu.set(7);
        platform.processCpu.set(processCpu);
        Path file = dir.resolve("r.tgd");
        Recorder recorder = Recorder.start(new RecorderOptions().everyRecord(true).platform(platform)
                .output(file.toFile()).ringRecords(1024));
        AppMethodBeat.i(1);
        AppMethodBeat.o(1);
        Await.stop(recorder);
        return WrittenChunks.of(file, 0);
    }

    @Test
    void theEndOfARecordingHasIt() throws Exception {
        List<WrittenChunks.Chunk> all = recorded(1000);
        WrittenChunks.Chunk cost = all.get(all.size() - 2);
        assertEquals(RecordingWriter.COST, cost.type);
        assertEquals(RecordingWriter.END, all.get(all.size() - 1).type);
        assertEquals(1000, cost.sv());
        // Of the sampler and the writer, and of the clock if that has ended.
        long recorder = cost.sv();
        assertTrue(recorder == 14 || recorder == 21, "of the recorder's threads: " + recorder);
        assertEquals(0, cost.sv(), "there is no agent");
    }

    @Test
    void whatIsNotKnownIsNoNumber() throws Exception {
        List<WrittenChunks.Chunk> all = recorded(-1);
        assertEquals(-1, all.get(all.size() - 2).sv());
    }
}
