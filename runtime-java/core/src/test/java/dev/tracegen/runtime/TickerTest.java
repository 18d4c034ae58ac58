package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The clock of the records when it is late, when something fails, and when its time is over. */
class TickerTest {
    @TempDir
    Path dir;

    private VirtualPlatform platform = new VirtualPlatform();
    private Recorder recorder;

    @AfterEach
    void stop() throws Exception {
        if (recorder != null) {
            Await.stop(recorder);
        }
    }

    private void start(RecorderOptions options) {
        recorder = Recorder.start(options.platform(platform));
    }

    private static int depth(int[] deepest, int n) {
        deepest[0] = n;
        return 1 + depth(deepest, n + 1);
    }

    /** Enters a method when only so many more frames fit onto the stack. */
    private static int enterAt(int depth) {
        if (depth == 0) {
            AppMethodBeat.i(7);
            return 0;
        }
        return 1 + enterAt(depth - 1);
    }

    /**
     * The first record of each pause comes with little stack, so that a StackOverflowError interrupts the wake-up of
     * the clock at any place. Whatever that was, the next record that has enough stack brings the clock back.
     */
    @Test
    void noStackOverflowStopsTheClock() throws Exception {
        final Throwable[] failed = new Throwable[1];
        Thread app = new Thread(null, () -> {
            try {
                overflowInEachPause();
            } catch (Throwable e) {
                failed[0] = e;
            }
        }, "app", 300000);
        app.start();
        app.join();
        assertNull(failed[0]);
    }

    private void overflowInEachPause() throws Exception {
        platform = new VirtualPlatform();
        start(new RecorderOptions().clockPeriodMillis(1).tickNanos(1000000));
        AppMethodBeat.i(1);
        ThreadTrace main = recorder.thread(Thread.currentThread());
        int overflows = 0;
        for (int k = 0; k < 60; k++) {
            Await.until("the clock pauses", () -> AppMethodBeat.fast != main.existingRing());
            platform.pass(1000);
            int[] deepest = new int[1];
            try {
                depth(deepest, 0);
            } catch (StackOverflowError e) {
                overflows++;
            }
            try {
                enterAt(deepest[0] - k);
            } catch (StackOverflowError e) {
                // The app's own calls do not fit.
            }
            long number = main.mark();
            AppMethodBeat.i(2);
            RecordCopy copy = main.copy(number, number + 1);
            assertEquals(1000L * (k + 1), copy.records[0] & Ring.TIME_MASK, "after overflow " + k);
            Await.until("records restore the fast path", () -> {
                AppMethodBeat.o(2);
                return AppMethodBeat.fast == main.existingRing();
            });
        }
        assertEquals(60, overflows);
    }

    /** Only the failure of a method of the app's thread may be repaired by the clock. */
    @Test
    void aFastPathThatWasNotSetIsRepaired() throws Exception {
        start(new RecorderOptions().clockPeriodMillis(1));
        AppMethodBeat.i(1);
        Ring ring = recorder.threads.main().existingRing();
        for (int k = 0; k < 10; k++) {
            // As if the call of updateFastPath had failed.
            AppMethodBeat.fast = Ring.placeholder(Thread.currentThread());
            Await.until("the clock sets it", () -> {
                AppMethodBeat.o(1);
                return AppMethodBeat.fast == ring;
            });
        }
    }

    /** The clock does not move the time of a thread that waits. The thread's next record has the exact time. */
    @Test
    void aThreadThatWaitedHasTheExactTime() throws Exception {
        start(new RecorderOptions().clockPeriodMillis(1).tickNanos(1000000).threads(RecorderOptions.THREADS_ALL));
        CountDownLatch waited = new CountDownLatch(1);
        long[] record = new long[1];
        Thread other = new Thread(() -> {
            AppMethodBeat.i(7);
            Await.open(waited);
            AppMethodBeat.o(7);
            record[0] = recorder.threads.existing(Thread.currentThread()).copy(1, 2).records[0];
        });
        other.start();
        Await.until("the clock has left out the thread", () -> {
            // So that it does not pause.
            AppMethodBeat.i(1);
            AppMethodBeat.o(1);
            ThreadTrace t = recorder.threads.existing(other);
            return t != null && t.still;
        });
        assertFalse(recorder.threads.main().still);
        platform.pass(1234);
        waited.countDown();
        other.join();
        assertEquals(1234, record[0] & Ring.TIME_MASK);
    }

    @Test
    void lateMovesAreWritten() throws Exception {
        Path file = dir.resolve("late.tgd");
        start(new RecorderOptions().clockPeriodMillis(1).output(file.toFile()).everyRecord(true));
        AppMethodBeat.i(1);
        // If this thread gets no processor, the clock pauses, and then it is not late.
        long begin = platform.nanos.get();
        Await.until("the clock is late", () -> {
            AppMethodBeat.i(2);
            platform.pass(100);
            AppMethodBeat.o(2);
            platform.awaitCheck();
            return !WrittenChunks.of(file, RecordingWriter.LATE).isEmpty();
        });
        Await.stop(recorder);
        List<WrittenChunks.Chunk> all = WrittenChunks.of(file, RecordingWriter.LATE);
        long before = begin - 1;
        for (WrittenChunks.Chunk c : all) {
            for (long n = c.uv(); n > 0; n--) {
                long from = c.sv();
                long to = c.sv();
                assertTrue(from > before || from >= begin && before < begin, "they are in order");
                assertTrue(to - from >= 100000000L, "the clock was late by " + (to - from));
                assertTrue(to <= platform.nanos.get());
                before = from;
            }
        }
    }

    @Test
    void aClockThatNoRecordNeedsIsNotLate() throws Exception {
        Path file = dir.resolve("late.tgd");
        start(new RecorderOptions().clockPeriodMillis(1).output(file.toFile()).everyRecord(true));
        for (int k = 0; k < 10; k++) {
            platform.pass(1000);
            platform.awaitCheck();
        }
        Await.stop(recorder);
        assertEquals(0, WrittenChunks.of(file, RecordingWriter.LATE).size());
    }

    @Test
    void lateTimesAreJoinedAndBounded() {
        LateTimes late = new LateTimes();
        assertNull(late.take());
        late.add(0, 100000000L);
        late.add(400000000L, 900000000L);
        late.add(1000000000L, 1100000000L);
        assertEquals("[0, 900000000, 1000000000, 1100000000]", java.util.Arrays.toString(late.take()));
        for (long k = 0; k < 1000; k++) {
            late.add(k * 2000000000L, k * 2000000000L + 5);
        }
        long[] all = late.take();
        assertEquals(128, all.length);
        assertEquals(999 * 2000000000L + 5, all[127]);
        assertNull(late.take());
        late.putBack(all);
        assertEquals(128, late.take().length);
    }

    @Test
    void recordingEndsWhenTimesAreFull() throws Exception {
        start(new RecorderOptions());
        AppMethodBeat.i(1);
        ThreadTrace main = recorder.thread(Thread.currentThread());
        platform.pass(101L * 24 * 3600 * 1000);
        main.mark();
        AppMethodBeat.i(2);
        assertEquals(AppMethodBeat.STATUS_STARTED, AppMethodBeat.status());
        platform.pass(2L * 24 * 3600 * 1000);
        main.mark();
        AppMethodBeat.i(3);
        assertEquals(AppMethodBeat.STATUS_STOPPED, AppMethodBeat.status());
        assertTrue(platform.logged.contains("the times of records are full after 2^43 ticks of 1000 ns"),
                platform.logged);
        long[] records = main.copy(0, 9).records;
        assertEquals(2, records.length);
        assertEquals(101L * 24 * 3600 * 1000 * 1000, records[1] & Ring.TIME_MASK);
        assertFalse(recorder.recording());
    }

    @Test
    void theThreadOfTheClockEndsTheRecordingToo() throws Exception {
        start(new RecorderOptions().clockPeriodMillis(1));
        AppMethodBeat.i(1);
        platform.pass(103L * 24 * 3600 * 1000);
        // A record wakes the clock if it pauses.
        Await.until("the recording ends", () -> {
            AppMethodBeat.o(1);
            return AppMethodBeat.status() == AppMethodBeat.STATUS_STOPPED;
        });
        long last = 0;
        for (long r : recorder.threads.main().copy(0, Long.MAX_VALUE).records) {
            assertTrue((r & Ring.TIME_MASK) >= last, "the time has wrapped");
            last = r & Ring.TIME_MASK;
        }
    }
}
