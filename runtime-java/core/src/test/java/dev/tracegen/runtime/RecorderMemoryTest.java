package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the recorder needs for many threads, and what it does without memory. */
class RecorderMemoryTest {
    private static final Runnable CALLS = () -> call(100);

    /** Three quarters of a first ring have room for them, so that no call is left out in a window. */
    private static final Runnable FEW_CALLS = () -> call(80);

    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();
    private Recorder recorder;

    @AfterEach
    void stop() throws Exception {
        if (recorder != null) {
            Await.stop(recorder);
        }
    }

    private MemoryBudget start(RecorderOptions options) {
        recorder = Recorder.start(options.platform(platform).memory(1 << 20));
        AppMethodBeat.i(1);
        return recorder.rings().memory;
    }

    private static void call(int times) {
        for (int k = 0; k < times; k++) {
            AppMethodBeat.i(8);
            AppMethodBeat.o(8);
        }
    }

    private static void elsewhere(Runnable work) throws Exception {
        Thread t = new Thread(work, "elsewhere");
        t.start();
        t.join();
    }

    private long dropped(Path file) throws Exception {
        long sum = 0;
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, RecordingWriter.DROPPED)) {
            for (long n = c.uv(); n > 0; n--) {
                assertEquals(0, c.uv(), "of all threads together");
                int kind = c.u8();
                long count = c.uv();
                sum += kind == Dropped.RECORDS ? count : 0;
            }
        }
        return sum;
    }

    /** Each virtual thread that is not recorded is counted once, by its ID. */
    @Test
    void threadsThatAreNotRecordedAreCountedOnce() throws Exception {
        recorder = Recorder.start(new RecorderOptions().platform(platform));
        for (long id : new long[] {40, 41, 40, 104, (1L << 40) + 7, 41}) {
            recorder.threads.countNotRecorded(id);
        }
        assertNull(recorder.dropped().text());
        assertEquals(4, recorder.dropped().take()[Dropped.VIRTUAL_THREADS]);
    }

    @Test
    void theMemoryOfThreadsThatHaveEndedIsUsedAgain() throws Exception {
        Path file = dir.resolve("threads.tgd");
        MemoryBudget memory = start(new RecorderOptions().threads(RecorderOptions.THREADS_ALL).everyRecord(true)
                .set("gate", "off").output(file.toFile()));
        long before = memory.used();
        for (int k = 0; k < 1000; k++) {
            elsewhere(FEW_CALLS);
            assertTrue(memory.used() <= memory.bytes());
        }
        Await.until("the threads are forgotten", () -> recorder.threads.all().size() == 1);
        Await.until("everything is written", () -> memory.used() == before);
        Await.stop(recorder);
        // What did not fit is counted, however fast the threads came.
        long records = 0;
        for (int t = 1; t <= 1000; t++) {
            for (String r : WrittenChunks.records(file, t).split(" ")) {
                // A thread may get its ring late. Then the number of its first record says how many were dropped.
                records += r.startsWith("!") ? Long.parseLong(r.substring(1))
                        : r.isEmpty() || r.startsWith("#") ? 0 : 1;
            }
        }
        assertEquals(160000, records + dropped(file));
        assertTrue(records > 0);
    }

    /** Without stalls and without every record nothing wakes the sampler, but for the threads themselves. */
    @Test
    void threadsThatEndAreForgottenAlsoIfOnlyStallsAreRecorded() throws Exception {
        MemoryBudget memory = start(new RecorderOptions().threads(RecorderOptions.THREADS_ALL));
        // More than fit at once, so nothing is left for the last ones unless the first ones are forgotten. How many
        // come before that depends on when the sampler gets its turn.
        final int[] recorded = new int[1];
        final Runnable counted = () -> {
            CALLS.run();
            ThreadTrace t = recorder.threads.existing(Thread.currentThread());
            recorded[0] += t != null && t.existingRing() != null ? 1 : 0;
        };
        for (int threads = 0; threads < 1000; threads++) {
            elsewhere(counted);
        }
        Await.until("memory is used again", () -> {
            elsewhere(counted);
            return recorded[0] > 500;
        });
        assertTrue(memory.used() <= memory.bytes());
    }

    @Test
    void recordsWithoutMemoryAreCounted() throws Exception {
        Path file = dir.resolve("dropped.tgd");
        MemoryBudget memory = start(new RecorderOptions().threads(RecorderOptions.THREADS_ALL).everyRecord(true)
                .set("gate", "off").output(file.toFile()));
        // Threads and their rings may take five of eight parts.
        long rest = memory.bytes() / 8 * 5 - memory.used();
        memory.takeAlways(rest);
        // There is no memory for the thread.
        elsewhere(CALLS);
        assertEquals(1, recorder.threads.all().size());
        // There is memory for the thread and none for a ring.
        memory.give(4000);
        elsewhere(CALLS);
        Await.until("the thread is forgotten", () -> recorder.threads.all().size() == 1);
        memory.takeAlways(4000);
        // There is memory for a ring after some records.
        elsewhere(() -> {
            memory.give(4000);
            CALLS.run();
            memory.give(rest);
            CALLS.run();
            memory.takeAlways(rest);
        });
        memory.give(rest - 4000);
        Await.stop(recorder);
        assertEquals(400, dropped(file));
        String[] all = WrittenChunks.records(file, 2).split(" ");
        assertEquals("!200", all[0]);
        assertEquals("#200", all[1]);
        assertEquals(202, all.length);
    }

    @Test
    void threadsThatAreNotRecordedNeedNothing() throws Exception {
        MemoryBudget memory = start(new RecorderOptions().threads(RecorderOptions.THREADS_CHOSEN));
        long before = memory.used();
        elsewhere(CALLS);
        assertEquals(before, memory.used());
        assertEquals(1, recorder.threads.all().size());
        Thread chosen = new Thread(CALLS, "chosen");
        ThreadTrace trace = recorder.thread(chosen);
        chosen.start();
        chosen.join();
        assertEquals(200, trace.copy(0, Long.MAX_VALUE).records.length);
    }

    @Test
    void aThreadIsSmallUntilItNeedsMore() throws Exception {
        start(new RecorderOptions().threads(RecorderOptions.THREADS_ALL));
        CountDownLatch end = new CountDownLatch(1);
        ThreadTrace[] trace = new ThreadTrace[1];
        Thread t = new Thread(() -> {
            CALLS.run();
            trace[0] = recorder.thread(Thread.currentThread());
            end.countDown();
        });
        t.start();
        end.await();
        assertEquals(Rings.FIRST_RECORDS, trace[0].existingRing().length());
        assertNull(trace[0].off);
        assertEquals(0, trace[0].sampled.leftOut.length);
        assertEquals(0, trace[0].history().size());
        t.join();
    }

    /** An error at any place of a thread of the recorder, also while it logs that, does not end the thread. */
    @Test
    void theRecordersThreadsSurviveErrors() throws Exception {
        start(new RecorderOptions().clockPeriodMillis(1).tickNanos(1000000));
        ThreadTrace main = recorder.threads.main();
        for (Error e : new Error[] {new OutOfMemoryError("test"), new StackOverflowError()}) {
            platform.error = e;
            AppMethodBeat.i(2);
            main.messageBegin("m");
            main.messageEnd();
            assertNotNull(main.copy(0, Long.MAX_VALUE));
            long failures = platform.errors.get();
            Await.until("the threads fail", () -> platform.errors.get() > failures + 3);
            platform.error = null;
        }
        platform.pass(1000);
        Await.until("the clock moves", () -> {
            AppMethodBeat.o(2);
            long end = main.existingRing().sequence();
            return (main.copy(end - 1, end).records[0] & Ring.TIME_MASK) >= 1000;
        });
        int alive = 0;
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            alive += t instanceof RecorderThread && t.isAlive() ? 1 : 0;
        }
        assertEquals(4, alive, "clock, sampler, writer, delivery");
    }

    @Test
    void theDefaultDependsOnTheHeap() {
        assertEquals(1 << 20, MemoryBudget.defaultBytes(8 << 20, false));
        assertEquals(4 << 20, MemoryBudget.defaultBytes(64 << 20, false));
        assertEquals(64 << 20, MemoryBudget.defaultBytes(Long.MAX_VALUE, false));
        assertEquals(7 << 19, MemoryBudget.defaultBytes(512 << 20, true));
        assertEquals(3 << 20, MemoryBudget.defaultBytes(48 << 20, true));
    }

    @Test
    void nothingIsTakenForAWhileWhenTheHeapIsFull() throws Exception {
        MemoryBudget memory = new MemoryBudget(1000);
        assertTrue(memory.take(10));
        memory.heapIsFull();
        assertFalse(memory.take(10));
        Await.until("memory is taken again", () -> memory.take(10));
        assertEquals(20, memory.used());
        assertFalse(memory.take(981));
        assertFalse(memory.takeBelow(10, 29));
        assertTrue(memory.takeBelow(10, 30));
    }
}
