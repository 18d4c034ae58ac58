package dev.tracegen.runtime.detector;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tracegen.runtime.Await;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The end of a recording, with the real schedule and its thread. */
class DetectorsEndTest {
    /** The thread of the test counts as the Looper's. Nothing runs on it. */
    private final VirtualSchedule clock = new VirtualSchedule();
    private final Recorder recorder = Recorder.start(new RecorderOptions().platform(clock.platform()));
    private final Detectors detectors = new Detectors(recorder, new VirtualLoop(clock, recorder),
            new ThreadSchedule(recorder.platform()));
    private final BlockingQueue<Incident> delivered = new LinkedBlockingQueue<Incident>();
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private final CountDownLatch ends = new CountDownLatch(1);
    private final AtomicInteger after = new AtomicInteger();
    private final Runnable stopRecorder = () -> {
        recorder.stop();
        after.incrementAndGet();
    };

    /** Reports an incident when it ends, as the detector {@code frames} does with the figures of the last scene. */
    private final class Last extends Detector {
        private Environment environment;

        Last() {
            super("last");
        }

        @Override
        protected void start(Environment e) {
            environment = e;
        }

        @Override
        protected void stop() {
            ends.countDown();
            while (mayEnd.getCount() > 0) {
                try {
                    mayEnd.await();
                } catch (InterruptedException e) {
                    continue;
                }
            }
            environment.incident("at-the-end").report();
        }
    }

    @AfterEach
    void stop() throws Exception {
        mayEnd.countDown();
        Await.stop(recorder);
        Recorder.setIncidentListener(null);
    }

    private void begin() {
        Recorder.setIncidentListener(delivered::add);
        detectors.add(new Last());
        detectors.set("last", true);
    }

    @Test
    void whatADetectorReportsWhenItEndsIsNotLost() throws Exception {
        begin();
        detectors.stop(stopRecorder);
        Await.until("the detector ends", () -> ends.getCount() == 0);
        // Only this thread lets the detector end: so the call did not wait.
        assertEquals(0, after.get());
        mayEnd.countDown();
        Await.until("the recorder was stopped", () -> after.get() == 1);
        Await.stop(recorder);
        Await.until("the incident is delivered", () -> delivered.size() == 1);
        assertEquals("at-the-end", delivered.take().kind);
    }
}
