package dev.tracegen.runtime.detector;

import static dev.tracegen.runtime.detector.World.MILLI;
import static dev.tracegen.runtime.detector.World.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.RecorderOptions;
import java.util.ArrayList;
import java.util.List;
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
        Watchdog dog = new Watchdog(new RecorderOptions());
        Anr anr = new Anr(new RecorderOptions(), () -> null, Runnable::run);
        Watcher[] all = {dog, anr};
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

    /** Returns the incidents of a kind that say that something was wrong. */
    private List<Incident> troubles(String detector) throws Exception {
        List<Incident> some = new ArrayList<Incident>();
        for (Incident i : world.delivered(detector)) {
            // Figures are reported of every scene, and every start is.
            if (!i.kind.equals("scene-frames") && !"false".equals(i.facts.get("slow"))) {
                some.add(i);
            }
        }
        return some;
    }

    /** One frame of the app: a traversal posts a barrier, which the frame's own message removes. */
    private void traversal(Random random) {
        int token = loop.postBarrier();
        for (int k = random.nextInt(3); k > 0; k--) {
            // Messages that wait for the frame.
            loop.message(0, random.nextInt((int) (5 * MILLI)));
        }
        schedule.advance(random.nextInt((int) (17 * MILLI)));
        loop.removeBarrier(token);
        schedule.advance(random.nextInt((int) (20 * MILLI)));
    }

    @Test
    void barriersOfFramesAreNoTrouble() throws Exception {
        SyncBarrier barrier = new SyncBarrier(new RecorderOptions());
        world.on(barrier);
        for (int hour = 0; hour < 24; hour++) {
            Random random = new Random(hour);
            long end = schedule.nanoTime() + 3600 * SECOND;
            while (schedule.nanoTime() < end) {
                for (int k = random.nextInt(120); k >= 0; k--) {
                    traversal(random);
                }
                burst(random);
                schedule.advance(random.nextInt(3000) * MILLI);
                if (random.nextInt(30) == 0) {
                    trouble(random);
                }
                if (random.nextInt(60) == 0) {
                    frozenTraversal(random);
                }
            }
            assertEquals(0, troubles("sync-barrier").size(), "in hour " + hour);
        }
        int token = loop.postBarrier();
        schedule.advance(60 * SECOND);
        loop.removeBarrier(token);
        assertEquals(1, troubles("sync-barrier").size(), "it was on, and still is");
    }

    /** A traversal in which the process is frozen, a debugger holds the main thread, or the clock stops. */
    private void frozenTraversal(Random random) {
        int token = loop.postBarrier();
        loop.message(0, MILLI);
        switch (random.nextInt(4)) {
            case 0:
                schedule.freeze((1 + random.nextInt(600)) * SECOND);
                break;
            case 1:
                schedule.sleep(random.nextInt(3600) * SECOND);
                break;
            case 2:
                schedule.starve(random.nextInt(2000) * MILLI);
                break;
            default:
                // The main thread stands still behind the barrier: neither probe is answered.
                long held = 1 + random.nextInt(90) * SECOND;
                loop.asynchronous(held);
                schedule.advance(held);
        }
        loop.removeBarrier(token);
        schedule.advance(20 * MILLI);
    }

    @Test
    void framesInTimeAreNoTrouble() throws Exception {
        VirtualDisplay display = new VirtualDisplay(schedule, loop);
        world.recorder.foreground(true);
        world.on(new Frames(display, 9));
        float[] rates = {60, 90, 120};
        for (int hour = 0; hour < 6; hour++) {
            Random random = new Random(hour);
            long end = schedule.nanoTime() + 3600 * SECOND;
            while (schedule.nanoTime() < end) {
                display.hz = rates[random.nextInt(rates.length)];
                world.recorder.scene("scene" + random.nextInt(3));
                animation(display, random);
                pause(display, random);
            }
            List<Incident> all = troubles("frames");
            assertEquals(0, all.size(), () -> all.get(0).kind + " " + all.get(0).facts);
        }
        int frames = 0;
        for (Incident i : world.delivered("frames")) {
            frames += Integer.parseInt(i.facts.get("frames"));
            assertEquals("0", i.facts.getOrDefault("level-middle", "0"), i.facts.toString());
        }
        assertTrue(frames > 10000, frames + " frames were counted");
        display.draw(MILLI, 0);
        display.draw(200 * MILLI, 0);
        schedule.advance(SECOND);
        assertEquals(1, troubles("frames").size(), "it was on, and still is");
    }

    /** Draws some frames in a row, nearly all in time, and runs short messages between them. */
    private static void animation(VirtualDisplay display, Random random) {
        for (int k = 1 + random.nextInt(200); k > 0; k--) {
            long interval = (long) (1e9 / display.hz);
            // One in fifty takes up to five vsyncs, which is less than 9 at 60 Hz at every rate.
            long nanos = random.nextInt(50) == 0 ? random.nextInt((int) (5 * interval))
                    : random.nextInt((int) (interval * 8 / 10));
            // Not zero: the Looper would run it without time.
            display.draw(1 + nanos, random.nextInt(2000) == 0 ? (1 + random.nextInt(60)) * SECOND : 0);
            if (random.nextInt(3) == 0) {
                display.work(1 + random.nextInt((int) (interval / 2)));
            }
        }
    }

    /** The time between two animations. */
    private void pause(VirtualDisplay display, Random random) {
        switch (random.nextInt(8)) {
            case 0:
                // In the background anything may take long.
                world.recorder.foreground(false);
                display.frames.background();
                display.work(random.nextInt(3000) * MILLI);
                schedule.freeze(random.nextInt(600) * SECOND);
                schedule.advance(random.nextInt(60) * SECOND);
                world.recorder.foreground(true);
                break;
            case 1:
                schedule.debugger(true);
                display.work(random.nextInt(90) * SECOND + 1);
                if (random.nextBoolean()) {
                    display.draw(5 * MILLI, 0);
                    schedule.advance(100 * MILLI);
                }
                schedule.debugger(false);
                break;
            case 2:
                schedule.freeze((1 + random.nextInt(600)) * SECOND);
                break;
            case 3:
                schedule.sleep(random.nextInt(3600) * SECOND);
                break;
            case 4:
                schedule.starve(random.nextInt(3000) * MILLI);
                break;
            default:
                // Nothing is drawn, but the main thread runs something now and then.
                for (int k = random.nextInt(100); k >= 0; k--) {
                    schedule.advance(random.nextInt(300) * MILLI);
                    display.work(1 + random.nextInt((int) (12 * MILLI)));
                }
        }
    }

    /** Lets time pass, and returns the time then. */
    private long after(long nanos) {
        schedule.advance(nanos);
        return schedule.nanoTime();
    }

    private void ended(Launches launches, Start s) {
        if (s != null) {
            launches.startup.ended(s);
        }
        schedule.advance(0);
    }

    @Test
    void startsInTimeAreNoTrouble() throws Exception {
        Launches launches = new Launches();
        world.on(new Startup(launches, 10000, 4000, 1500));
        int[] number = {1};
        for (int hour = 0; hour < 24; hour++) {
            Random random = new Random(hour);
            long end = schedule.nanoTime() + 3600 * SECOND;
            Starts starts = process(launches, random, number);
            while (schedule.nanoTime() < end) {
                // The user leaves the app, and the system may freeze it meanwhile.
                long now = after(random.nextInt(60) * SECOND);
                starts.paused(number[0], now);
                starts.stopped(number[0], false);
                trouble(random);
                switch (random.nextInt(5)) {
                    case 0:
                        starts = process(launches, random, number);
                        break;
                    case 1:
                        starts.destroyed(number[0]);
                        number[0]++;
                        launch(launches, starts, random, number[0], true, 3500);
                        break;
                    default:
                        launch(launches, starts, random, number[0], false, 1400);
                }
            }
            List<Incident> all = troubles("startup");
            assertEquals(0, all.size(), () -> all.get(0).facts.toString());
        }
        assertTrue(world.delivered("startup").size() > 400, world.delivered("startup").size() + " starts");
        for (String type : new String[] {"cold", "warm", "hot"}) {
            assertTrue(world.delivered("startup").stream().anyMatch(i -> type.equals(i.facts.get("type"))),
                    "no start " + type);
        }
        Starts starts = new Starts();
        long now = schedule.nanoTime();
        starts.application(now, now + 1);
        starts.free(now + 2);
        starts.created(1, now + 4, now + 3, 0);
        ended(launches, starts.focus("app.Main", after(10 * SECOND), 0));
        assertEquals(1, troubles("startup").size(), "it was on, and still is");
    }

    /** A new process with a cold start, or one for a broadcast, with an activity later. */
    private Starts process(Launches launches, Random random, int[] number) {
        Starts starts = new Starts();
        boolean shown = random.nextInt(3) != 0;
        long begin = schedule.nanoTime();
        starts.application(begin, after(random.nextInt(1000) * MILLI));
        starts.importance(shown ? 100 : 300);
        starts.free(after(random.nextInt(2000) * MILLI));
        schedule.advance(shown ? random.nextInt(500) * MILLI : random.nextInt(300) * SECOND);
        number[0]++;
        launch(launches, starts, random, number[0], true, 3500);
        return starts;
    }

    /** Starts an activity that takes at most so many milliseconds, without the time in which others have the focus. */
    private void launch(Launches launches, Starts starts, Random random, int number, boolean create, int most) {
        long message = schedule.nanoTime();
        if (create) {
            starts.created(number, after(random.nextInt(most / 4) * MILLI), message, 0);
        }
        starts.started(number, after(random.nextInt(most / 4) * MILLI), message, 0);
        starts.resumed(number, after(random.nextInt(most / 4) * MILLI));
        if (random.nextInt(5) == 0) {
            // A request for a permission, which the user answers when he likes.
            starts.paused(number, schedule.nanoTime());
            schedule.advance(random.nextInt(300) * SECOND);
            starts.resumed(number, schedule.nanoTime());
        }
        if (random.nextInt(20) == 0) {
            // The user leaves before the end, and comes back later.
            starts.paused(number, schedule.nanoTime());
            starts.stopped(number, false);
            schedule.freeze(random.nextInt(600) * SECOND);
            message = schedule.nanoTime();
            starts.started(number, after(MILLI), message, 0);
            starts.resumed(number, after(MILLI));
        }
        ended(launches, starts.focus("app.Main", after(random.nextInt(most / 4) * MILLI), 0));
    }
}
