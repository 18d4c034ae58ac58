package dev.tracegen.runtime.detector;

import static dev.tracegen.runtime.detector.World.MILLI;
import static dev.tracegen.runtime.detector.World.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Properties;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Hours of an app that has no stall: short messages, idle time, pauses in a debugger, freezes, clocks that jump or
 * stop, a machine that leaves the detectors no processor.
 */
class HealthyHourTest {
    private final World world = new World();
    private final VirtualSchedule schedule = world.schedule;
    private final VirtualLoop loop = world.loop;

    @AfterEach
    void stop() throws Exception {
        world.stop();
    }

    /** Lets a burst of messages run, which take at most a third of a second together. */
    private void burst(Random random) {
        long left = 333 * MILLI;
        for (int k = random.nextInt(20); k >= 0 && left > 0; k--) {
            long duration = random.nextInt((int) left) / (1 + random.nextInt(10));
            left -= duration;
            loop.message(random.nextInt((int) (50 * MILLI)), duration);
        }
    }

    private void trouble(Random random) {
        switch (random.nextInt(6)) {
            case 0:
                // The app is frozen, or all of its threads are suspended, or the clock jumps.
                schedule.freeze((2 + random.nextInt(600)) * SECOND);
                break;
            case 1:
                schedule.sleep(random.nextInt(3600) * SECOND);
                break;
            case 2:
                schedule.debugger(true);
                loop.busy(random.nextInt(90) * SECOND);
                schedule.advance((90 + random.nextInt(10)) * SECOND);
                schedule.debugger(false);
                break;
            case 3:
                schedule.starve((2 + random.nextInt(60)) * SECOND);
                break;
            case 4:
                schedule.starve(random.nextInt(400) * MILLI);
                break;
            default:
                schedule.advance(random.nextInt(120) * SECOND);
        }
    }

    @Test
    void everyDetectorIsSilentOverHealthyHours() throws Exception {
        Watchdog dog = Watchdog.classic(new Properties());
        Watchdog polls = Watchdog.shortPolls(new Properties());
        Hold hold = Hold.create(new Properties());
        SteadySamples samples = SteadySamples.create(new Properties());
        Anr anr = new Anr(new Properties(), new AnrEvidence() {
            @Override
            public State state() {
                return null;
            }
        }, Runnable::run);
        Watcher[] all = {dog, polls, hold, samples, anr};
        world.on(all);
        for (int hour = 0; hour < 24; hour++) {
            Random random = new Random(hour);
            long end = schedule.nanoTime() + 3600 * SECOND;
            while (schedule.nanoTime() < end) {
                burst(random);
                schedule.advance(random.nextInt(400) * MILLI);
                if (random.nextInt(30) == 0) {
                    trouble(random);
                }
                // A message may have been frozen in the middle.
                schedule.advance(600 * MILLI);
            }
            for (Watcher w : all) {
                assertEquals(0, w.found(), w.name() + " in hour " + hour);
            }
        }
        // They were on, and still are.
        loop.busy(30 * SECOND);
        schedule.advance(60 * SECOND);
        for (Watcher w : all) {
            assertTrue(w.found() > 0, w.name());
            assertEquals("on", world.recorder.detectorStates().get(w.name()));
        }
    }
}
