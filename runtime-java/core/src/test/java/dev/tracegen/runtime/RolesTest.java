package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sampler, writer and delivery do not wait for each other, and the app waits for none of them. */
class RolesTest {
    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();
    private final CountDownLatch open = new CountDownLatch(1);
    private final BlockingQueue<Stall> delivered = new LinkedBlockingQueue<Stall>();
    private Recorder recorder;
    private Path file;

    private ThreadTrace start(RecorderOptions options) {
        file = dir.resolve("r.tgd");
        recorder = Recorder.start(options.platform(platform).output(file.toFile()).ringRecords(1024));
        return recorder.thread(Thread.currentThread());
    }

    @AfterEach
    void stop() throws Exception {
        open.countDown();
        Recorder.setStallListener(null);
        Await.stop(Recorder.current());
    }

    private void stall(ThreadTrace main, String text) {
        main.messageBegin(text);
        platform.pass(700);
        main.messageEnd();
    }

    private int chunks(int type) throws Exception {
        return WrittenChunks.of(file, type).size();
    }

    private void awaitStalls(int n) throws Exception {
        Await.until("the file has " + n + " stalls", () -> chunks(RecordingWriter.STALL) == n);
    }

    private StallListener blocked() {
        return new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                delivered.add(stall);
                try {
                    open.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
    }

    @Test
    void aSlowListenerDelaysNothingElse() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        Recorder.setStallListener(blocked());
        stall(main, "first");
        Await.until("the listener is called", () -> delivered.size() == 1);
        stall(main, "second");
        awaitStalls(2);
        main.messageBegin("hangs");
        long begin = platform.nanoTime();
        platform.pass(700);
        Await.until("there is a sign of life", () -> {
            List<WrittenChunks.Chunk> all = WrittenChunks.of(file, RecordingWriter.ALIVE);
            return !all.isEmpty() && all.get(all.size() - 1).sv() >= begin + 700000000L;
        });
        assertEquals(1, delivered.size());
        open.countDown();
        Await.until("the second stall is delivered", () -> delivered.size() == 2);
    }

    @Test
    void whatAListenerMissesIsCounted() throws Exception {
        recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024));
        ThreadTrace main = recorder.thread(Thread.currentThread());
        Recorder.setStallListener(blocked());
        Await.until("a delivery is dropped", () -> {
            for (int k = 0; k < 10; k++) {
                stall(main, "m");
            }
            String text = recorder.dropped().text();
            return text != null && text.contains("calls of the stall listener");
        });
        open.countDown();
        Await.stop(recorder);
        assertTrue(platform.logged.contains("not recorded, because it came too fast or could not be written: "),
                platform.logged);
    }

    @Test
    void aListenerThatThrowsCostsNothing() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        Recorder.setStallListener(new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                delivered.add(stall);
                throw new OutOfMemoryError("of the app");
            }
        });
        for (int k = 1; k <= 7; k++) {
            stall(main, "m" + k);
            awaitStalls(k);
            final int n = k;
            Await.until("stall " + k + " is delivered", () -> delivered.size() == n);
        }
        assertTrue(recorder.recording());
        Await.stop(recorder);
        assertEquals("a listener of the app failed, and recording continues: java.lang.OutOfMemoryError: of the app\n",
                platform.logged);
    }

    @Test
    void aListenerMayDoAnything() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        final AtomicReference<Recorder> second = new AtomicReference<Recorder>();
        final AtomicInteger calls = new AtomicInteger();
        Recorder.setStallListener(new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                if (calls.incrementAndGet() > 1) {
                    return;
                }
                recorder.thread(Thread.currentThread());
                recorder.stop();
                second.set(Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024)
                        .output(file.toFile())));
            }
        });
        stall(main, "m");
        Await.until("the listener has started a recorder", () -> second.get() != null);
        assertSame(second.get(), Recorder.current());
        stall(second.get().thread(Thread.currentThread()), "n");
        Await.until("its stall is delivered", () -> calls.get() == 2);
        Await.stop(second.get());
        assertEquals(1, chunks(RecordingWriter.STALL));
        assertEquals(1, chunks(RecordingWriter.END));
        Path before = dir.resolve("r.tgd.1");
        assertEquals(1, WrittenChunks.of(before, RecordingWriter.STALL).size());
        assertEquals(1, WrittenChunks.of(before, RecordingWriter.END).size());
    }

    @Test
    void aWriteThatFailsDoesNotSkipTheListener() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        Recorder.setStallListener(new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                delivered.add(stall);
            }
        });
        platform.writerFailure = new IllegalStateException("cannot write");
        stall(main, "m");
        Await.until("the stall is delivered", () -> delivered.size() == 1);
        Await.until("the writer has failed", () -> platform.logged.contains("cannot write"));
        platform.writerFailure = null;
        stall(main, "n");
        // The failure may cost the job before the first stall only, which begins the file. Then both are written.
        Await.until("a stall is written", () -> chunks(RecordingWriter.STALL) > 0);
    }

    /** How often the calling thread has waited for another one. A wait for a lock that is held is not counted. */
    private static long waits() {
        return ManagementFactory.getThreadMXBean().getThreadInfo(Thread.currentThread().getId()).getWaitedCount();
    }

    @Test
    void stopAndStartWaitForNothing() throws Exception {
        Assumptions.assumeFalse(Host.isAndroid(), "ART does not count how often a thread waits");
        ThreadTrace main = start(new RecorderOptions().everyRecord(true));
        Await.until("the file has begun", () -> chunks(RecordingWriter.CLOCK) > 0);
        AppMethodBeat.i(1);
        platform.writerGate = open;
        // Before a stall the writer reads the clocks, so it does not end.
        stall(main, "m");
        final AtomicReference<Long> waited = new AtomicReference<Long>();
        Thread caller = new Thread("caller") {
            @Override
            public void run() {
                // Once before: to load classes may take locks.
                waits();
                long before = waits();
                Recorder second = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024)
                        .everyRecord(true).output(file.toFile()));
                second.stop();
                Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024).everyRecord(true)
                        .output(file.toFile()));
                waited.set(waits() - before);
            }
        };
        caller.start();
        Await.until("start has returned", () -> waited.get() != null);
        AppMethodBeat.i(2);
        assertEquals(0, waited.get().longValue());
        assertTrue(open.getCount() > 0);
        assertFalse(Files.exists(dir.resolve("r.tgd.1")));
        open.countDown();
        Await.stop(Recorder.current());
        assertEquals("+2", WrittenChunks.records(file, 0));
        assertEquals("", WrittenChunks.records(dir.resolve("r.tgd.1"), 0));
        assertEquals("+1 +1048574 -1048574", WrittenChunks.records(dir.resolve("r.tgd.2"), 0));
        for (String name : new String[] {"r.tgd", "r.tgd.1", "r.tgd.2"}) {
            assertEquals(1, WrittenChunks.of(dir.resolve(name), RecordingWriter.END).size(), name);
        }
    }

    @Test
    void aBlockedDiskStopsNothingElse() throws Exception {
        platform.writerGate = open;
        ThreadTrace main = start(new RecorderOptions().memory(1 << 20));
        Recorder.setStallListener(new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                delivered.add(stall);
            }
        });
        stall(main, "first");
        stall(main, "second");
        Await.until("both stalls are delivered", () -> delivered.size() == 2);
        main.messageBegin("third");
        platform.awaitCheck();
        platform.pass(700);
        Await.until("the sampler samples", () -> main.sampled.facts != null && main.sampled.facts.passed);
        long sent = 0;
        while (recorder.dropped().text() == null) {
            for (int k = 0; k < 1000; k++, sent++) {
                main.frame(new FrameTiming(k, k, k, 0, 60));
            }
            platform.awaitCheck();
        }
        assertEquals(0, chunks(0));
        open.countDown();
        main.messageEnd();
        Await.until("the third stall is delivered", () -> delivered.size() == 3);
        Await.stop(recorder);
        awaitStalls(3);
        long frames = 0;
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, RecordingWriter.FRAMES)) {
            frames += c.uv();
        }
        long dropped = 0;
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, RecordingWriter.DROPPED)) {
            for (long n = c.uv(); n > 0; n--) {
                assertEquals(0, c.uv());
                int kind = c.u8();
                long count = c.uv();
                dropped += kind == Dropped.FRAMES ? count : 0;
            }
        }
        assertTrue(dropped > 0);
        assertEquals(sent, frames + dropped);
    }

    /** While the writer stands still, the app goes on, and the recording says what is missing. */
    @Test
    void theAppGoesOnWhileTheDiskIsBlocked() throws Exception {
        platform.writerGate = open;
        start(new RecorderOptions().everyRecord(true).memory(1 << 20).set("gate", "off"));
        int n = 200000;
        for (int k = 0; k < n; k++) {
            AppMethodBeat.i(1);
            platform.pass(30);
            recorder.threads.main().mark();
            AppMethodBeat.o(1);
        }
        assertTrue(open.getCount() > 0);
        open.countDown();
        Await.stop(recorder);
        long records = 0;
        long next = 0;
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, RecordingWriter.RECORDS)) {
            assertEquals(0, c.uv());
            long first = c.uv();
            assertEquals(first - next, c.uv(), "lost before " + first);
            long count = c.uv();
            records += count;
            next = first + count;
        }
        assertTrue(records > 0);
        assertEquals(recorder.threads.main().existingRing().sequence(), next);
    }

    /**
     * The sampler copies no records before the writer has opened. When recording has stopped, it checks all threads
     * twice. Here the writer opens behind the second check, and ahead of what follows it.
     */
    @Test
    void aStopBeforeTheWriterOpensLosesNoRecords() throws Exception {
        RecorderOptions options = new RecorderOptions().everyRecord(true);
        options.callMessages = new CallMessages() {
            @Override
            void open(RecorderOptions of) {
                awaitUninterrupted(open);
            }

            @Override
            OfThread ofThread() {
                throw new AssertionError("a thread with messages has no others");
            }
        };
        final CountDownLatch put = new CountDownLatch(1);
        final AtomicInteger checks = new AtomicInteger(-1);
        platform.checked = () -> {
            switch (checks.incrementAndGet()) {
                case 0:
                    awaitUninterrupted(put);
                    break;
                case 1:
                    recorder.stop();
                    break;
                case 3:
                    open.countDown();
                    while (!recorder.writerIsIdle()) {
                        Thread.yield();
                    }
                    break;
                default:
            }
        };
        ThreadTrace main = start(options);
        main.messageBegin("m");
        AppMethodBeat.i(1);
        AppMethodBeat.o(1);
        main.messageEnd();
        put.countDown();
        Await.until("the recording is stopped", () -> !recorder.recording());
        Await.stop(recorder);
        assertEquals("+1048574 +1 -1 -1048574", WrittenChunks.records(file, 0));
        assertTrue(checks.get() > 3, "the writer opened before");
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                // The sampler is woken so.
            }
        }
    }
}
