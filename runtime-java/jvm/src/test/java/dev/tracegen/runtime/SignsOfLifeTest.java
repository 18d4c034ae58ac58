package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
        Await.written(recorder);
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
        ThreadTrace main = start(new RecorderOptions().everyRecord(true));
        main.messageBegin("m");
        platform.pass(10);
        Await.stop(recorder);
        List<WrittenChunks.Chunk> all = WrittenChunks.of(file, RecordingWriter.ALIVE);
        assertEquals(1, all.size());
        assertEquals(platform.nanoTime(), all.get(0).sv());
        all.get(0).sv();
        assertEquals(1, all.get(0).uv());
    }

    /** A process may be killed before the next sign is due: that depends on how long the call has taken. */
    @Test
    void theLastRecordsBeforeAHangAreWrittenAtOnce() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        main.messageBegin("m");
        AppMethodBeat.i(1);
        platform.pass(700);
        alive(platform.nanoTime());
        for (int k = 0; k < 100; k++) {
            platform.pass(5000);
            alive(platform.nanoTime());
        }
        AppMethodBeat.i(2);
        platform.pass(200);
        awaitRecords("+1048574 +1 +2");
        alive(platform.nanoTime() - 200000000L);
    }

    /** The ring may be small, because the records of a long message are handed over before it is full. */
    @Test
    void aMessageThatMakesManyRecordsLosesNone() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        main.messageBegin("m");
        platform.pass(700);
        alive(platform.nanoTime());
        for (int k = 0; k < 20; k++) {
            platform.pass(5000);
            alive(platform.nanoTime());
        }
        // New records at each check, so that none finds the thread stuck. Between two copies there are at most two of
        // the 20 portions, and a quarter of the ring.
        for (int k = 0; k < 20; k++) {
            platform.awaitNextCheck();
            for (int n = 0; n < 150; n++) {
                AppMethodBeat.i(1);
                AppMethodBeat.o(1);
            }
        }
        platform.pass(5000);
        platform.awaitCheck();
        Await.written(recorder);
        assertEquals(6001, WrittenChunks.records(file, 0).split(" ").length);
    }

    /** A part of a recording refers to nothing in the one before, so it needs the whole message. */
    @Test
    void aNewPartHasTheRecordsOfTheMessageThatHangs() throws Exception {
        ThreadTrace main = start(new RecorderOptions().limit(1, 9));
        main.messageBegin("m");
        AppMethodBeat.i(1);
        platform.pass(700);
        alive(platform.nanoTime());
        java.util.Random random = new java.util.Random(1);
        while (!java.nio.file.Files.exists(dir.resolve("r.part1.tgd"))) {
            for (int k = 0; k < 1000; k++) {
                main.frame(new FrameTiming(random.nextLong(), random.nextLong(), random.nextLong(), 1, 60));
            }
            platform.awaitCheck();
            Await.written(recorder);
        }
        assertEquals("+1048574 +1", WrittenChunks.records(dir.resolve("r.part1.tgd"), 0));
        platform.pass(1000);
        alive(platform.nanoTime());
        assertEquals("+1048574 +1", WrittenChunks.records(file, 0));
    }

    private void awaitRecords(String want) throws Exception {
        Await.until("the file has " + want, () -> WrittenChunks.records(file, 0).equals(want));
    }

    @Test
    void aHangDeepInALongCallHasItsOwnSignsAndSamples() throws Exception {
        RecorderOptions o = new RecorderOptions().everyRecord(true);
        o.callMessages = new OutermostCalls(null);
        start(o);
        AppMethodBeat.i(1);
        awaitRecords("+1");
        platform.pass(1000000);
        alive(platform.nanoTime());
        AppMethodBeat.i(2);
        awaitRecords("+1 +2");
        // The time without a record begins when the recorder sees that there was one.
        platform.awaitCheck();
        Await.written(recorder);
        int samples = WrittenChunks.of(file, RecordingWriter.SAMPLES).size();
        long begin = platform.nanoTime();
        // The call has lasted 1,000 s, so without the time since the last record the next sample would be 250 s away.
        for (int k = 1; k <= 4; k++) {
            platform.pass(1000);
            alive(begin + k * SECOND);
            platform.awaitCheck();
        }
        Await.written(recorder);
        int more = WrittenChunks.of(file, RecordingWriter.SAMPLES).size() - samples;
        assertTrue(more >= 3, more + " samples in 4 s without a record");
    }

    /** The recorder checks every 87 ms, so the sign must come when there are so many left. */
    @Test
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void aKilledProcessLeavesTheEndOfAHangToFivePercent() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        main.messageBegin("m");
        long begin = platform.nanoTime();
        platform.pass(700);
        alive(platform.nanoTime());
        for (int k = 0; k < 20; k++) {
            platform.pass((platform.nanoTime() - begin) / 3000000);
            alive(platform.nanoTime());
            long age = (platform.nanoTime() - begin) / 1000000;
            platform.pass(Math.min(5000, Math.max(100, age / 20)) - 87);
            alive(platform.nanoTime());
        }
    }

    /** A call that ends while the recording is closed has no exit, so it must not be said to be open later. */
    @Test
    void theLastSignIsOfTheMomentWhenRecordingEnded() throws Exception {
        ThreadTrace main = start(new RecorderOptions().everyRecord(true));
        main.messageBegin("m");
        platform.pass(10);
        platform.millisPerWallClock = 50;
        Await.stop(recorder);
        List<WrittenChunks.Chunk> all = WrittenChunks.of(file, RecordingWriter.ALIVE);
        assertEquals(1, all.size());
        long sign = all.get(0).sv();
        // The clock of the time of day was read at least twice after that.
        assertTrue(sign <= platform.nanoTime() - 100000000L, sign + " at " + platform.nanoTime());
    }

    /**
     * A thread that has called System.exit waits until the recorder's own shutdown hook has ended. That time, the state
     * and the stack of the thread belong to no call of the program.
     */
    @Test
    void nothingBehindTheEndBelongsToAnOpenCall() throws Exception {
        ThreadTrace main = start(new RecorderOptions().everyRecord(true));
        main.messageBegin("m");
        platform.pass(10);
        long end = platform.nanoTime();
        platform.millisAtTheEnd = 5000;
        Await.stop(recorder);
        assertEquals(0, WrittenChunks.of(file, RecordingWriter.SAMPLES).size(), "samples");
        List<WrittenChunks.Chunk> all = WrittenChunks.of(file, RecordingWriter.ALIVE);
        assertEquals(1, all.size());
        WrittenChunks.Chunk c = all.get(0);
        assertEquals(end, c.sv());
        c.sv();
        assertEquals(1, c.uv());
        c.uv();
        c.uv();
        c.sv();
        assertEquals(0, c.u8(), "the state");
    }

    @Test
    void aSignSaysWhatRuns() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        main.messageBegin(">>>>> Dispatching to Handler (a.B) {1f} null: 7");
        platform.pass(700);
        alive(platform.nanoTime());
        String strings = new String(bytes(RecordingWriter.STRINGS), "UTF-8");
        assertTrue(strings.contains("Handler (a.B) null: 7"), strings);
    }

    @Test
    void aSampleHasTheLockAndItsOwner() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        final Thread owner = new Thread("owner");
        final ThreadTrace[] trace = new ThreadTrace[1];
        final CountDownLatch begun = new CountDownLatch(1);
        Thread hung = new Thread("hung") {
            @Override
            public void run() {
                trace[0] = recorder.thread(this);
                trace[0].messageBegin("m");
                begun.countDown();
                LockSupport.park();
            }
        };
        platform.lock = new LockWait("a.Lock", 0xF0000001, owner);
        platform.waitsForLock = hung;
        hung.setDaemon(true);
        hung.start();
        begun.await();
        while (hung.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        platform.pass(700);
        alive(platform.nanoTime());
        List<WrittenChunks.Chunk> samples = WrittenChunks.of(file, RecordingWriter.SAMPLES);
        WrittenChunks.Chunk s = samples.get(0);
        s.sv();
        assertEquals(trace[0].index, s.uv());
        s.u8();
        for (long n = s.uv(); n > 0; n--) {
            s.uv();
        }
        s.sv();
        assertTrue(s.uv() > 0, "the class of the lock");
        assertEquals(0xF0000001L, s.u8() | s.u8() << 8 | s.u8() << 16 | (long) s.u8() << 24);
        long ownerIndex = s.uv() - 1;
        assertEquals(recorder.threads.of(owner).index, ownerIndex);
        WrittenChunks.Chunk second = samples.get(1);
        second.sv();
        assertEquals(ownerIndex, second.uv(), "the thread of the next sample");
        LockSupport.unpark(hung);
    }

    /** Returns the payloads of all chunks of a type. */
    private byte[] bytes(int type) throws Exception {
        java.io.ByteArrayOutputStream b = new java.io.ByteArrayOutputStream();
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, type)) {
            b.write(c.rest());
        }
        return b.toByteArray();
    }
}
