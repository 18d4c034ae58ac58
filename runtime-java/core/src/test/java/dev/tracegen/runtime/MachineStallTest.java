package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is known of the machine is read while a stall lasts, not afterwards, and reaches the file and the app. */
class MachineStallTest {
    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();
    private final AtomicReference<Stall> stall = new AtomicReference<Stall>();
    private Recorder recorder;
    private Path file;

    private ThreadTrace start() {
        file = dir.resolve("r.tgd");
        Recorder.setStallListener(stall::set);
        recorder = Recorder.start(new RecorderOptions().platform(platform).output(file.toFile()).ringRecords(1024));
        return recorder.thread(Thread.currentThread());
    }

    @AfterEach
    void stop() throws Exception {
        Await.stop(recorder);
        Recorder.setStallListener(null);
    }

    private static String facts(WrittenChunks.Chunk c) {
        StringBuilder b = new StringBuilder();
        b.append(c.uv()).append(' ').append(c.uv()).append(' ').append(c.sv() / 1000000);
        for (long n = c.uv(); n > 0; n--) {
            c.uv();
            b.append(' ').append(c.str());
        }
        return b.toString();
    }

    @Test
    void theStateIsReadBeforeAtAndAfterTheThreshold() throws Exception {
        platform.machine = true;
        ThreadTrace main = start();
        main.messageBegin("m");
        platform.pass(350);
        Await.until("the first reading", () -> platform.machineReads.get() == 1);
        platform.machineTicks.addAndGet(7);
        platform.pass(350);
        Await.until("the second one", () -> platform.machineReads.get() == 2);
        Await.until("a chunk", () -> !WrittenChunks.of(file, RecordingWriter.MACHINE).isEmpty());
        List<WrittenChunks.Chunk> all = WrittenChunks.of(file, RecordingWriter.MACHINE);
        // Thread 0, message 0, 700 ms after the begin; 350 ms, 20 %, 70 ms of processor time; 9 threads. How late the
        // sampler was by the virtual clock depends on the machine.
        String first = facts(all.get(0));
        assertTrue(first.matches("0 0 5700 350 20 9 [0-9]+"), first);
        platform.machineTicks.addAndGet(100);
        platform.pass(1000);
        main.messageEnd();
        Await.until("the stall", () -> stall.get() != null);
        Await.until("both chunks", () -> WrittenChunks.of(file, RecordingWriter.MACHINE).size() == 2);
        assertEquals("0 0 6700 1000 100 9", facts(WrittenChunks.of(file, RecordingWriter.MACHINE).get(1)));
        assertEquals("{over-millis=350, process-cpu-percent=20, threads=9, recorder-late-millis=#,"
                + " end-over-millis=1000, end-process-cpu-percent=100, end-threads=9}",
                stall.get().machine.toString().replaceAll("(recorder-late-millis=)[0-9]+", "$1#"));
        assertEquals(3, platform.machineReads.get());
    }

    @Test
    void aShortMessageIsNotReadFor() throws Exception {
        platform.machine = true;
        ThreadTrace main = start();
        main.messageBegin("m");
        platform.pass(300);
        platform.awaitCheck();
        main.messageEnd();
        assertEquals(0, platform.machineReads.get());
    }

    @Test
    void whereNothingIsKnownThereIsNoChunk() throws Exception {
        ThreadTrace main = start();
        main.messageBegin("m");
        platform.pass(700);
        platform.awaitCheck();
        main.messageEnd();
        Await.until("the stall", () -> stall.get() != null);
        Await.written(recorder);
        assertEquals(0, WrittenChunks.of(file, RecordingWriter.MACHINE).size());
        assertTrue(stall.get().machine.isEmpty());
    }
}
