package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StackSampleTest {
    /** A sample that seems to be later than a record must not show what the thread did before it. */
    @Test
    void aSampleIsNotLaterThanItsStack() throws Exception {
        VirtualPlatform platform = new VirtualPlatform();
        Recorder recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024));
        long[] taken = new long[1];
        Thread sampled = new Thread("sampled") {
            @Override
            public StackTraceElement[] getStackTrace() {
                taken[0] = platform.nanoTime();
                platform.pass(10);
                return super.getStackTrace();
            }
        };
        StackSample s = StackSample.of(new ThreadTrace(recorder, sampled, 1, false, true), recorder);
        assertEquals(taken[0], s.nanos);
        Await.stop(recorder);
    }

    /** Very many threads may wait at once. All of them together are sampled in a fifth of a processor's time. */
    @Test
    void samplesOfManyStallsAreBounded() throws Exception {
        VirtualPlatform platform = new VirtualPlatform();
        Recorder recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024).slowMillis(100)
                .threads(RecorderOptions.THREADS_ALL));
        AtomicInteger taken = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(40);
        CountDownLatch end = new CountDownLatch(1);
        Thread[] waiting = new Thread[40];
        for (int k = 0; k < waiting.length; k++) {
            waiting[k] = new Thread("waiting " + k) {
                @Override
                public StackTraceElement[] getStackTrace() {
                    taken.incrementAndGet();
                    platform.cpu.addAndGet(2000000);
                    return super.getStackTrace();
                }

                @Override
                public void run() {
                    recorder.thread(this).messageBegin("long");
                    begun.countDown();
                    Await.open(end);
                }
            };
            waiting[k].start();
        }
        begun.await();
        platform.pass(60);
        platform.awaitCheck();
        // Each takes 2 ms, which is the share of 10 ms.
        assertEquals(26, taken.get(), "ahead of a share of 250 ms");
        platform.pass(9);
        platform.awaitCheck();
        assertEquals(26, taken.get(), "9 ms later");
        platform.pass(1);
        platform.awaitCheck();
        assertEquals(27, taken.get(), "10 ms later");
        // The main thread's samples do not wait.
        recorder.thread(Thread.currentThread()).messageBegin("main");
        platform.pass(1000);
        platform.awaitCheck();
        assertTrue(recorder.threads.main().sampled.facts.passed);
        end.countDown();
        Await.stop(recorder);
    }
}
