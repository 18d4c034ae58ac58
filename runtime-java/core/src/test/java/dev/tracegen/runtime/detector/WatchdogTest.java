package dev.tracegen.runtime.detector;

import static dev.tracegen.runtime.detector.World.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.RecorderOptions;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WatchdogTest {
    private static final int TRIALS = 4000;

    private final World world = new World();
    private final VirtualSchedule schedule = world.schedule;
    private final VirtualLoop loop = world.loop;

    @AfterEach
    void stop() throws Exception {
        world.stop();
    }

    /**
     * Returns in which share of trials a stall of length x is found that begins at a random phase, and checks that a
     * stall is found at most once and that one tick waits at most.
     */
    private double share(Watchdog dog, long poll, long x, Random random) {
        int before = dog.found();
        for (int k = 0; k < TRIALS; k++) {
            schedule.advance(5 * poll + (long) (random.nextDouble() * poll));
            int found = dog.found();
            loop.busy(x);
            schedule.advance(x / 2);
            assertTrue(loop.waiting() <= 1, "ticks that wait");
            schedule.advance(x - x / 2);
            assertTrue(dog.found() <= found + 1, "found twice");
        }
        return (dog.found() - before) / (double) TRIALS;
    }

    /** Checks a share against a probability within five standard deviations. The seed is fixed. */
    private static void near(double p, double share, String what) {
        double sigma = Math.sqrt(p * (1 - p) / TRIALS);
        assertEquals(p, share, 5 * sigma, what);
    }

    @Test
    void aStallIsFoundAtAPollWithTheProbabilityOfTheFormula() {
        long a = 5 * SECOND;
        Watchdog dog = new Watchdog(new RecorderOptions());
        world.on(dog);
        Random random = new Random(1);
        for (double x : new double[] {0.2, 0.99, 1, 1.1, 1.25, 1.5, 1.6, 1.9, 2, 2.01, 3.7}) {
            near(Math.max(0, Math.min(1, x - 1)), share(dog, a, (long) (x * a), random), x + " a");
        }
    }

    @Test
    void anIncidentHasTheStackAndEndsWhenTheThreadAnswers() throws Exception {
        Watchdog dog = new Watchdog(new RecorderOptions());
        world.on(dog);
        schedule.advance(SECOND);
        loop.busy(13 * SECOND);
        schedule.advance(60 * SECOND);
        List<Incident> all = world.stop();
        assertEquals(1, all.size());
        Incident i = all.get(0);
        assertEquals("watchdog missed-poll 5000", i.detector + " " + i.kind + " " + i.facts.get("poll-millis"));
        // The tick before the stall was answered, the next one was posted at 5 s.
        assertEquals(5000, World.millis(i.beginNanos));
        assertEquals(14000, World.millis(i.endNanos));
        assertEquals(10000, World.millis(i.stacks.get(0).nanos));
        assertTrue(i.stacks.get(0).frames.toString().contains("WatchdogTest"), "the stack of the Looper's thread");
    }

    @Test
    void aThreadThatHangsForAnHourGetsOneTickAndOneReport() throws Exception {
        Watchdog dog = new Watchdog(new RecorderOptions());
        world.on(dog);
        loop.busy(3600 * SECOND);
        schedule.advance(3500 * SECOND);
        // One was answered at once, before the Looper was busy.
        assertEquals(2, loop.posts());
        assertEquals(1, loop.waiting());
        List<Incident> all = world.stop();
        assertEquals(1, all.size());
        assertEquals(0, all.get(0).endNanos);
    }

    @Test
    void afterAnAnswerTheNextStallIsFound() {
        Watchdog dog = new Watchdog(new RecorderOptions());
        world.on(dog);
        for (int k = 0; k < 3; k++) {
            loop.busy(11 * SECOND);
            schedule.advance(20 * SECOND);
        }
        assertEquals(3, dog.found());
    }

    @Test
    void aDebuggerAFrozenProcessAndALateScheduleAreNoStalls() {
        Watchdog dog = new Watchdog(new RecorderOptions());
        world.on(dog);
        loop.busy(4 * SECOND);
        schedule.advance(SECOND);
        schedule.freeze(100 * SECOND);
        schedule.advance(20 * SECOND);
        assertEquals(0, dog.found());
        loop.busy(4 * SECOND);
        schedule.advance(SECOND);
        schedule.debugger(true);
        loop.busy(40 * SECOND);
        schedule.advance(43 * SECOND);
        schedule.debugger(false);
        schedule.advance(20 * SECOND);
        assertEquals(0, dog.found());
        loop.busy(9 * SECOND);
        schedule.starve(12 * SECOND);
        schedule.advance(20 * SECOND);
        assertEquals(0, dog.found());
        schedule.sleep(1000 * SECOND);
        schedule.advance(20 * SECOND);
        assertEquals(0, dog.found());
        // It still works.
        loop.busy(11 * SECOND);
        schedule.advance(20 * SECOND);
        assertEquals(1, dog.found());
    }

    @Test
    void aStoppedClockIsNoStall() {
        Watchdog dog = new Watchdog(new RecorderOptions());
        world.on(dog);
        loop.busy(4 * SECOND);
        for (int k = 0; k < 1000; k++) {
            schedule.sleep(SECOND);
            schedule.advance(0);
        }
        assertEquals(0, dog.found());
    }

    @Test
    void nothingIsThrownIntoTheApp() {
        Watchdog dog = new Watchdog(new RecorderOptions());
        world.on(dog);
        schedule.advance(4 * SECOND);
        loop.brokenInPosted = true;
        schedule.advance(2 * SECOND);
        loop.brokenInPosted = false;
        schedule.advance(20 * SECOND);
        assertEquals(6, loop.posts());
        assertEquals(0, dog.found());
    }

    @Test
    void switchedOffItLeavesNoTickBehind() {
        Watchdog dog = new Watchdog(new RecorderOptions());
        world.on(dog);
        loop.busy(30 * SECOND);
        schedule.advance(5 * SECOND);
        assertEquals(1, loop.waiting());
        world.detectors.set("watchdog", false);
        schedule.advance(0);
        assertEquals(0, loop.waiting());
        schedule.advance(60 * SECOND);
        assertEquals(0, dog.found());
    }

    @Test
    void aLooperThatHasEndedIsNoStall() {
        Watchdog dog = new Watchdog(new RecorderOptions());
        loop.ended = true;
        world.on(dog);
        schedule.advance(100 * SECOND);
        assertEquals(0, dog.found());
        assertTrue(loop.posts() <= 21, loop.posts() + " posts");
    }

    @Test
    void aWrongSettingIsRefusedWithItsName() {
        for (String value : new String[] {"0", "-1", "x", "999999999999"}) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                    () -> new Watchdog(World.properties("watchdog.poll-millis", value)));
            assertTrue(e.getMessage().startsWith("want a whole number of milliseconds"), e.getMessage());
        }
    }
}
