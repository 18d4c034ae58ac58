package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which thread's calls take which way, and what that allocates. */
class FastPathTest {
    private final VirtualPlatform platform = new VirtualPlatform();
    private Recorder recorder;

    @AfterEach
    void stop() throws Exception {
        Await.stop(recorder);
    }

    private ThreadTrace start(RecorderOptions options) {
        recorder = Recorder.start(options.platform(new VirtualPlatform()).ringRecords(1024));
        return recorder.thread(Thread.currentThread());
    }

    private static void calls(int id, int n) {
        for (int k = 0; k < n; k++) {
            AppMethodBeat.i(id);
            AppMethodBeat.o(id);
        }
    }

    private static void elsewhere(Runnable work) throws Exception {
        Thread t = new Thread(work, "elsewhere");
        t.start();
        t.join();
    }

    @Test
    void theRingIsThatOfTheMainThreadWhileItIsRecorded() throws Exception {
        start(new RecorderOptions());
        assertSame(Thread.currentThread(), AppMethodBeat.fast.owner);
        Await.stop(recorder);
        assertNull(AppMethodBeat.fast);
    }

    /** Another thread may read a value of {@code fast} that another recorder has set. */
    @Test
    void anotherThreadThatReadsAnOldRingPutsNothingIntoTheNewOne() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        calls(1, 1);
        long before = main.existingRing().sequence();
        elsewhere(() -> {
            AppMethodBeat.fast = Ring.placeholder(Thread.currentThread());
            calls(8, 5);
            AppMethodBeat.fast = null;
            calls(8, 5);
        });
        assertEquals(before, main.existingRing().sequence());
        assertEquals(1, recorder.threads.all().size());
    }

    /** The thread of the last recorder must not put records into the ring of the next one. */
    @Test
    void theMainThreadMayChange() throws Exception {
        ThreadTrace first = start(new RecorderOptions());
        calls(1, 1);
        ThreadTrace[] second = new ThreadTrace[1];
        elsewhere(() -> {
            second[0] = start(new RecorderOptions());
            calls(2, 1);
        });
        calls(3, 1);
        assertEquals(2, first.existingRing().sequence());
        assertEquals(2, second[0].existingRing().sequence());
        assertEquals(1, recorder.threads.all().size());
    }

    /**
     * Returns how many bytes this thread allocates at least by some work. The first times may load classes, link call
     * sites and let rings grow, and the JVM may compile something at any time, but not each time.
     */
    static long allocated(Runnable work) {
        long least = Long.MAX_VALUE;
        for (int k = 0; k < 10 && least > 0; k++) {
            long empty = AllocatedBytes.ofThisThread();
            empty = AllocatedBytes.ofThisThread() - empty;
            long before = AllocatedBytes.ofThisThread();
            work.run();
            least = Math.min(least, AllocatedBytes.ofThisThread() - before - empty);
        }
        return least;
    }

    /**
     * Invariant: An entry and an exit allocate nothing: on the main thread, with the method switched off, on threads
     * that are recorded and on others, and while recording is off.
     */
    @Test
    void callsAllocateNothing() throws Exception {
        start(new RecorderOptions());
        assertEquals(0, allocated(() -> calls(1, 20000)), "on the main thread");
        elsewhere(() -> assertNothing("on another thread"));
        Await.stop(recorder);
        assertNothing("while recording is off");
        start(new RecorderOptions().clockPeriodMillis(0));
        assertNothing("with an exact clock");
        start(new RecorderOptions().threads(RecorderOptions.THREADS_ALL));
        elsewhere(() -> assertNothing("with all threads"));
        start(new RecorderOptions().threads(RecorderOptions.THREADS_CHOSEN));
        elsewhere(() -> assertNothing("on a thread that is not chosen"));
        elsewhere(() -> {
            recorder.thread(Thread.currentThread());
            assertNothing("on a chosen thread");
        });
    }

    /**
     * Invariant: A message that turns out to be fast makes no text and allocates nothing, once the history is full.
     */
    @Test
    void fastMessagesAllocateNothing() {
        ThreadTrace main = start(new RecorderOptions().history(20, 16));
        String text = ">>>>> Dispatching to Handler (com.a.B) {1f2e} null: 3";
        assertEquals(0, allocated(() -> {
            for (int k = 0; k < 1000; k++) {
                main.messageBegin(text);
                main.messageEnd();
            }
        }));
    }

    /** The CPU clock is a call of the system. Messages that follow each other at once share a reading. */
    @Test
    void theCpuClockIsReadOnceAMillisecond() {
        recorder = Recorder.start(new RecorderOptions().platform(platform).clockPeriodMillis(1000000)
                .history(200, 0));
        ThreadTrace main = recorder.thread(Thread.currentThread());
        platform.cpu.set(1000);
        message(main, 0, 0);
        message(main, 0, 300000);
        assertEquals(1, platform.cpuReads.get());
        assertEquals(0, cpuOf(main, 1));
        // The time of the message before is counted here, at most a millisecond of it.
        message(main, 40000000, 7000000);
        assertEquals(7300000, cpuOf(main, 2));
        assertEquals(2, platform.cpuReads.get());
        // After a pause the begin is read too.
        platform.pass(5);
        platform.cpu.addAndGet(5000000);
        message(main, 40000000, 7000000);
        assertEquals(7000000, cpuOf(main, 3));
        assertEquals(4, platform.cpuReads.get());
    }

    private static long cpuOf(ThreadTrace main, long number) {
        for (MessageRecord m : main.history()) {
            if (m.kind == MessageRecord.NORMAL && m.sequence == number) {
                return m.cpuNanos;
            }
        }
        return -1;
    }

    private void message(ThreadTrace main, long wallNanos, long cpuNanos) {
        main.messageBegin("m");
        platform.nanos.addAndGet(wallNanos);
        platform.cpu.addAndGet(cpuNanos);
        main.messageEnd();
    }

    // The assertion of a thread that the test started would be lost.
    private static volatile String failure;

    private static void assertNothing(String where) {
        long bytes = allocated(() -> calls(1, 20000));
        if (bytes != 0) {
            failure = bytes + " bytes " + where;
        }
    }

    @AfterEach
    void nothingFailedElsewhere() {
        String text = failure;
        failure = null;
        assertNull(text);
    }
}
