package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Needs its own JVM, because a JVM has only one first call. */
class TakeoverOptionsTest {
    @TempDir
    Path dir;

    @Test
    void startKeepsTheFirstRecordsWhateverTheOptionsAre() throws Exception {
        long begin = System.nanoTime();
        AppMethodBeat.i(1);
        Recorder early = Recorder.current();
        for (int k = 0; k < 20; k++) {
            early.threads.main().messageBegin("m");
            early.threads.main().messageEnd();
        }
        Path file = dir.resolve("app.tgd");
        Recorder recorder = Recorder.start(new RecorderOptions().ringRecords(1 << 14).tickNanos(1000000)
                .clockPeriodMillis(0).memory(2 << 20).everyRecord(true).output(file.toFile()));
        Assumptions.assumeTrue(System.nanoTime() - begin < EarlyStart.EXPIRY_NANOS, "the machine stood still");
        assertSame(early, recorder);
        assertEquals(2 << 20, recorder.rings().memory.bytes());
        assertEquals(20, recorder.threads.main().messageNumber());
        long before = System.nanoTime();
        AppMethodBeat.o(1);
        long after = System.nanoTime();
        RecordCopy all = recorder.threads.main().copy(0, 99);
        assertEquals(42, all.records.length);
        // The last record has its exact time: the period is 0 from now on.
        long base = recorder.ticker().baseNanos();
        long nanos = base + (all.records[41] & Ring.TIME_MASK) * 1000;
        assertTrue(nanos >= before - 1000 && nanos <= after, "the clock is exact");
        for (int k = 0; k < 40000; k++) {
            AppMethodBeat.i(2);
            AppMethodBeat.o(2);
        }
        assertTrue(recorder.threads.main().existingRing().length() <= 1 << 14);
        Await.stop(recorder);
        Map<String, String> meta = new HashMap<String, String>();
        WrittenChunks.Chunk c = WrittenChunks.of(file, RecordingWriter.META).get(0);
        for (long n = c.uv(); n > 0; n--) {
            meta.put(c.str(), c.str());
        }
        assertEquals("1000", meta.get("tickNanos"));
        assertEquals("5", meta.get("clockPeriodMillis"), "that of the first records, which is the coarser one");
        assertTrue(WrittenChunks.records(file, 0).startsWith("+1 +1048574 -1048574"));
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getName().equals("tracegen-clock")) {
                Await.until("the clock has ended", () -> !t.isAlive());
            }
        }
    }
}
