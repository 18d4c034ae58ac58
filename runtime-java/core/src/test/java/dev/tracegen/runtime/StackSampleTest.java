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

    /** Very many threads may wait at once. All of them together are sampled in a tenth of the sampler's time. */
    @Test
    void samplesOfManyStallsAreBounded() throws Exception {
        VirtualPlatform platform = new VirtualPlatform();
        Recorder recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024).slowMillis(100)
                .threads(RecorderOptions.THREADS_ALL));
        AtomicInteger taken = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(20);
        CountDownLatch end = new CountDownLatch(1);
        Thread[] waiting = new Thread[20];
        for (int k = 0; k < waiting.length; k++) {
            waiting[k] = new Thread("waiting " + k) {
                @Override
                public StackTraceElement[] getStackTrace() {
                    taken.incrementAndGet();
                    platform.pass(2);
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
        assertEquals(1, taken.get(), "in no time");
        // It took 2 ms, so the next one is taken 18 ms later.
        platform.pass(17);
        platform.awaitCheck();
        assertEquals(1, taken.get(), "17 ms later");
        platform.pass(1);
        platform.awaitCheck();
        assertEquals(2, taken.get(), "18 ms later");
        // The main thread's samples do not wait.
        recorder.thread(Thread.currentThread()).messageBegin("main");
        platform.pass(1000);
        platform.awaitCheck();
        assertTrue(recorder.threads.main().sampled.facts.passed);
        end.countDown();
        Await.stop(recorder);
    }
}
