package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import android.app.Activity;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RecorderTest {
    private final VirtualPlatform platform = new VirtualPlatform();
    private Recorder recorder;

    private ThreadTrace start(RecorderOptions options) {
        if (options.clockPeriodMillis > 0) {
            options.tickNanos(1000000);
        }
        recorder = Recorder.start(options.platform(platform).ringRecords(1024));
        return recorder.thread(Thread.currentThread());
    }

    @AfterEach
    void stop() throws Exception {
        platform.broken = false;
        Recorder.setStallListener(null);
        Recorder.setOwnFocusListener(null);
        Await.stop(recorder);
    }

    /** Returns the records of a thread as {@code +ID@TICKS -ID@TICKS ...}. */
    private static String recordsOf(ThreadTrace trace) {
        StringBuilder b = new StringBuilder();
        for (long r : trace.copy(0, Long.MAX_VALUE).records) {
            b.append(r < 0 ? '+' : '-').append(r >>> Ring.ID_SHIFT & 0xFFFFF).append('@')
                    .append(r & Ring.TIME_MASK).append(' ');
        }
        return b.toString().trim();
    }

    private static void elsewhere(Runnable work) throws Exception {
        Thread t = new Thread(work, "elsewhere");
        t.start();
        t.join();
    }

    private static final Runnable CALLS = new Runnable() {
        @Override
        public void run() {
            AppMethodBeat.i(8);
            AppMethodBeat.o(8);
        }
    };

    @Test
    void theMainThreadAloneIsRecorded() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        AppMethodBeat.i(1);
        elsewhere(CALLS);
        AppMethodBeat.o(1);
        assertEquals("+1@0 -1@0", recordsOf(main));
        assertEquals(1, recorder.threads.all().size());
    }

    @Test
    void allThreadsAreRecordedWhenAsked() throws Exception {
        ThreadTrace main = start(new RecorderOptions().threads(RecorderOptions.THREADS_ALL));
        AppMethodBeat.i(1);
        final ThreadTrace[] other = new ThreadTrace[1];
        elsewhere(new Runnable() {
            @Override
            public void run() {
                CALLS.run();
                other[0] = recorder.thread(Thread.currentThread());
            }
        });
        assertEquals("+1@0", recordsOf(main));
        assertEquals("+8@0 -8@0", recordsOf(other[0]));
    }

    @Test
    void chosenThreadsAreRecorded() throws Exception {
        start(new RecorderOptions().threads(RecorderOptions.THREADS_CHOSEN));
        Thread chosen = new Thread(CALLS, "chosen");
        ThreadTrace trace = recorder.thread(chosen);
        chosen.start();
        chosen.join();
        final ThreadTrace[] other = new ThreadTrace[1];
        elsewhere(new Runnable() {
            @Override
            public void run() {
                CALLS.run();
                other[0] = recorder.threads.of(Thread.currentThread());
            }
        });
        assertEquals("+8@0 -8@0", recordsOf(trace));
        assertNull(other[0].existingRing());
    }

    @Test
    void impossibleIdsAreIgnored() {
        ThreadTrace main = start(new RecorderOptions());
        for (int id : new int[] {0, -1, Integer.MIN_VALUE, 0xFFFFF, Integer.MAX_VALUE}) {
            AppMethodBeat.i(id);
            AppMethodBeat.o(id);
        }
        AppMethodBeat.i(1);
        AppMethodBeat.i(0xFFFFD);
        AppMethodBeat.i(0xFFFFE);
        assertEquals("+1@0 +1048573@0 +1048574@0", recordsOf(main));
    }

    @Test
    void stoppedRecordsNothingAndKeepsWhatThereWas() {
        ThreadTrace main = start(new RecorderOptions());
        assertEquals(AppMethodBeat.STATUS_STARTED, AppMethodBeat.status());
        AppMethodBeat.i(1);
        recorder.stop();
        AppMethodBeat.o(1);
        main.messageBegin("x");
        main.messageEnd();
        assertEquals(AppMethodBeat.STATUS_STOPPED, AppMethodBeat.status());
        assertEquals("+1@0", recordsOf(main));
        assertEquals(AppMethodBeat.OFF, AppMethodBeat.mode);
        assertNull(AppMethodBeat.fast);
        ThreadTrace again = start(new RecorderOptions());
        AppMethodBeat.i(2);
        assertEquals("+2@0", recordsOf(again));
    }

    @Test
    void marksUpdateTheTime() throws Exception {
        // Nothing else updates the time, because the period is so long: the thread of the clock does it once.
        ThreadTrace main = start(new RecorderOptions().clockPeriodMillis(1000000));
        platform.awaitClock();
        AppMethodBeat.i(1);
        platform.pass(3);
        AppMethodBeat.i(2);
        main.mark();
        AppMethodBeat.i(3);
        platform.pass(4);
        main.messageBegin("m");
        platform.pass(5);
        main.messageEnd();
        platform.pass(6);
        main.mark();
        AppMethodBeat.i(4);
        assertEquals("+1@0 +2@0 +3@3 +1048574@7 -1048574@12 +4@18", recordsOf(main));
    }

    @Test
    void theTimeNeverGoesBack() {
        ThreadTrace main = start(new RecorderOptions().clockPeriodMillis(1000000));
        platform.pass(10);
        main.mark();
        AppMethodBeat.i(1);
        platform.pass(-7);
        main.mark();
        AppMethodBeat.i(2);
        assertEquals("+1@10 +2@10", recordsOf(main));
    }

    @Test
    void anExactClockIsReadForEveryRecord() {
        ThreadTrace main = start(new RecorderOptions().tickNanos(1000).clockPeriodMillis(0));
        AppMethodBeat.i(1);
        platform.nanos.addAndGet(1500000);
        AppMethodBeat.o(1);
        assertEquals("+1@0 -1@1500", recordsOf(main));
    }

    /**
     * The ticker pauses many times. Each time the first record after the pause has the exact time and wakes the
     * ticker.
     */
    @Test
    void aPausedTickerLosesNoTime() throws Exception {
        ThreadTrace main = start(new RecorderOptions().clockPeriodMillis(1));
        AppMethodBeat.i(1);
        long ticks = 0;
        for (int k = 0; k < 60; k++) {
            Await.until("the clock pauses", () -> AppMethodBeat.fast != main.existingRing());
            platform.pass(1000);
            ticks += 1000;
            // Older records are overwritten, so their number is not the length of a copy.
            long number = main.existingRing().sequence();
            AppMethodBeat.i(2);
            assertEquals(ticks, main.copy(number, number + 1).records[0] & Ring.TIME_MASK);
            // The clock may have paused again, if this thread had no CPU meanwhile.
            Await.until("a record restores the fast path", () -> {
                AppMethodBeat.o(2);
                return AppMethodBeat.fast == main.existingRing();
            });
        }
    }

    @Test
    void nothingIsThrownIntoTheApp() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        platform.broken = true;
        AppMethodBeat.i(1);
        AppMethodBeat.i(0xFFFFE);
        main.messageBegin("m");
        main.messageEnd();
        main.mark();
        main.mark();
        platform.broken = false;
        // Another thread of the recorder may have failed first. Then that one logs it.
        Await.until("the failure is logged", () -> platform.logged.contains("no clock"));
    }

    static class Screen extends Activity {
    }

    static final class Other extends Screen {
    }

    @Test
    void focusIsReportedOnceForEachChange() {
        start(new RecorderOptions());
        final List<String> changes = new ArrayList<String>();
        Recorder.setOwnFocusListener(new FocusListener() {
            @Override
            public void focusChanged(String activityClass, boolean hasFocus) {
                changes.add(activityClass.replaceAll(".*\\$", "") + hasFocus);
            }
        });
        Screen screen = new Screen();
        AppMethodBeat.at(null, true);
        AppMethodBeat.at(screen, true);
        AppMethodBeat.at(screen, true);
        AppMethodBeat.at(new Other(), true);
        AppMethodBeat.at(screen, false);
        assertEquals("dev.tracegen.runtime.RecorderTest$Other", recorder.scene());
        AppMethodBeat.at(new Other(), false);
        AppMethodBeat.at(new Other(), false);
        assertEquals("[Screentrue, Othertrue, Otherfalse]", changes.toString());
        assertNull(recorder.scene());
    }

    private BlockingQueue<Stall> stalls() {
        final BlockingQueue<Stall> found = new LinkedBlockingQueue<Stall>();
        Recorder.setStallListener(new StallListener() {
            @Override
            public void stallEnded(Stall message) {
                found.add(message);
            }
        });
        return found;
    }

    private static Stall next(BlockingQueue<Stall> found) throws Exception {
        Await.until("a stall is reported", () -> !found.isEmpty());
        return found.remove();
    }

    @Test
    void aStallIsFound() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        BlockingQueue<Stall> found = stalls();
        AppMethodBeat.i(99);
        main.messageBegin("quick");
        platform.pass(699);
        main.messageEnd();
        platform.pass(100);
        main.messageBegin(">>>>> Dispatching to Handler (com.example.Handler) {1} null: 7");
        AppMethodBeat.i(1);
        platform.pass(400);
        platform.cpu.addAndGet(30000000);
        main.mark();
        AppMethodBeat.i(2);
        platform.pass(300);
        main.mark();
        AppMethodBeat.o(2);
        AppMethodBeat.o(1);
        main.messageEnd();
        Stall slow = next(found);
        assertEquals("Handler (com.example.Handler) null: 7", slow.description);
        assertEquals(700000000L, slow.wallNanos);
        assertEquals(30000000L, slow.cpuNanos);
        assertEquals("[0,1048574,1,700, 1,1,1,700, 2,2,1,300]", slow.tree.longest(30).toString());
        assertEquals(0, slow.tree.repairs());
        assertEquals(2, slow.history.size());
        assertEquals(MessageRecord.IDLE, slow.history.get(1).kind);
        assertTrue(found.isEmpty());
    }

    @Test
    void theLockOfAStallIsFound() throws Exception {
        ThreadTrace main = start(new RecorderOptions().threads(RecorderOptions.THREADS_CHOSEN));
        recorder.scene("checkout");
        recorder.foreground(true);
        BlockingQueue<Stall> found = stalls();
        final Object lock = new Object();
        final CountDownLatch begun = new CountDownLatch(1);
        final ThreadTrace[] trace = new ThreadTrace[1];
        Thread looper = new Thread(new Runnable() {
            @Override
            public void run() {
                trace[0].messageBegin("blocked");
                begun.countDown();
                synchronized (lock) {
                    trace[0].messageEnd();
                }
            }
        }, "looper");
        trace[0] = recorder.thread(looper);
        platform.lock = new LockWait("java.lang.Object", 1, new Thread("loader"));
        platform.waitsForLock = looper;
        final PendingMessage next = new PendingMessage(1, 2, "t", null, 3, true);
        trace[0].setPendingQueue(new PendingQueue() {
            @Override
            public List<PendingMessage> snapshot(int max) {
                List<PendingMessage> all = new ArrayList<PendingMessage>();
                all.add(next);
                return all;
            }
        });
        synchronized (lock) {
            looper.start();
            begun.await();
            Await.until("the looper is blocked", () -> looper.getState() == Thread.State.BLOCKED);
            // A collection belongs to the message only if the recorder has seen the message before.
            Await.until("the recorder sees the message", () -> trace[0].sampled.facts != null);
            platform.pass(700);
            platform.gcCount += 2;
            Await.until("the message is a stall", () -> trace[0].sampled.facts.passed);
            assertEquals(MessageRecord.RUNNING, trace[0].history().get(0).kind);
        }
        Stall slow = next(found);
        assertEquals(Thread.State.BLOCKED, slow.stateAtThreshold);
        assertEquals("loader holds java.lang.Object", slow.lockOwner);
        assertEquals("checkout", slow.scene);
        assertTrue(slow.foreground);
        assertEquals(2, slow.gcCount);
        assertEquals(14, slow.gcMillis);
        assertSame(next, slow.pending.get(0));
        assertEquals("looper", slow.thread);
        assertFalse(main == trace[0]);
    }

    @Test
    void anUnreadableQueueIsNotReportedAsEmpty() throws Exception {
        ThreadTrace main = start(new RecorderOptions());
        BlockingQueue<Stall> found = stalls();
        main.messageBegin("m");
        platform.pass(5000);
        main.messageBegin("the end of m was not reported");
        assertNull(next(found).pending);
    }
}
