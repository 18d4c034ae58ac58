package dev.tracegen.runtime.detector;

import static dev.tracegen.runtime.detector.World.MILLI;
import static dev.tracegen.runtime.detector.World.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tracegen.runtime.RecorderOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How often detectors wake up and post messages in ten minutes of a healthy app: the figures of docs/detectors.md. */
class DetectorCostTest {
    private static final long TEN_MINUTES = 600 * SECOND;

    private final World world = new World();
    private final VirtualSchedule schedule = world.schedule;
    private final VirtualLoop loop = world.loop;
    private final VirtualDisplay display = new VirtualDisplay(schedule, loop);

    /** What the app does. */
    private interface App {
        void step();
    }

    @AfterEach
    void end() throws Exception {
        world.stop();
    }

    /** Switches a detector on, lets the app run for ten minutes, and compares counts. */
    private void costs(Detector d, App app, int wakeUpsAMinute, int messagesAMinute) {
        world.recorder.foreground(true);
        world.on(d);
        // Without what only the begin costs.
        long begin = schedule.nanoTime();
        while (schedule.nanoTime() < begin + 10 * SECOND) {
            app.step();
        }
        long runs = schedule.runs();
        int posts = loop.posts();
        begin = schedule.nanoTime();
        while (schedule.nanoTime() < begin + TEN_MINUTES) {
            app.step();
        }
        assertEquals(wakeUpsAMinute, Math.round((schedule.runs() - runs) / 10.0), d.name() + ": wake-ups");
        assertEquals(messagesAMinute, Math.round((loop.posts() - posts) / 10.0), d.name() + ": messages");
    }

    private void idle() {
        schedule.advance(SECOND);
    }

    /** Sixty frames a second. */
    private void draws() {
        display.draw(5 * MILLI, 0);
    }

    private static Detector anr() {
        return new Anr(new RecorderOptions(), () -> null, Runnable::run);
    }

    @Test
    void syncBarrierIdle() {
        costs(new SyncBarrier(new RecorderOptions()), this::idle, 30, 30);
    }

    @Test
    void syncBarrierDraws() {
        costs(new SyncBarrier(new RecorderOptions()), this::draws, 30, 30);
    }

    @Test
    void watchdogIdle() {
        costs(new Watchdog(new RecorderOptions()), this::idle, 24, 12);
    }

    @Test
    void watchdogDraws() {
        costs(new Watchdog(new RecorderOptions()), this::draws, 24, 12);
    }

    @Test
    void anrIdle() {
        costs(anr(), this::idle, 120, 0);
    }

    @Test
    void anrDraws() {
        costs(anr(), this::draws, 120, 0);
    }

    @Test
    void framesIdle() {
        costs(new Frames(display, 9), this::idle, 0, 0);
    }

    @Test
    void framesDraws() {
        costs(new Frames(display, 9), this::draws, 1200, 0);
    }
}
