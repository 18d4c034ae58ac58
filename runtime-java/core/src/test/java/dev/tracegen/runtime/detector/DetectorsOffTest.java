package dev.tracegen.runtime.detector;

import static dev.tracegen.runtime.detector.World.MILLI;
import static dev.tracegen.runtime.detector.World.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.Await;
import dev.tracegen.runtime.RecorderOptions;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Detectors that are switched on and off while the app runs, in each of their states. */
class DetectorsOffTest {
    private static final long HOUR = 3600 * SECOND;

    private final World world = new World();
    private final VirtualSchedule schedule = world.schedule;
    private final VirtualLoop loop = world.loop;
    private final VirtualDisplay display = new VirtualDisplay(schedule, loop);
    private final Launches launches = new Launches();
    private final List<Detector> all = new ArrayList<Detector>();

    /** What happens while a detector is on. */
    private interface Life {
        void live() throws Exception;
    }

    @BeforeEach
    void begin() {
        AnrEvidence silent = () -> null;
        all.add(new SyncBarrier(new RecorderOptions()));
        all.add(new Watchdog(new RecorderOptions()));
        all.add(new Anr(new RecorderOptions(), silent, Runnable::run));
        all.add(new Frames(display, 9));
        all.add(new Startup(launches, 10000, 4000, 1500));
        for (Detector d : all) {
            world.detectors.add(d);
        }
        world.recorder.foreground(true);
    }

    @AfterEach
    void end() throws Exception {
        Await.stop(world.recorder);
    }

    private void set(Detector d, boolean on) {
        world.detectors.set(d.name(), on);
        schedule.advance(0);
        assertEquals(on ? "on" : "off", world.recorder.detectorStates().get(d.name()));
    }

    /** Returns the environment of a detector, which is made anew whenever it is switched on. */
    private WeakReference<Object> environment(Detector d) throws Exception {
        Field entries = Detectors.class.getDeclaredField("entries");
        entries.setAccessible(true);
        Object entry = ((Map<?, ?>) entries.get(world.detectors)).get(d.name());
        Field environment = entry.getClass().getDeclaredField("environment");
        environment.setAccessible(true);
        return new WeakReference<Object>(environment.get(entry));
    }

    /** Lets the app run for an hour, with all that detectors look for. */
    private void hour() throws Exception {
        long end = schedule.nanoTime() + HOUR;
        while (schedule.nanoTime() < end) {
            everything();
            schedule.advance(10 * 60 * SECOND);
        }
    }

    private void launch() {
        Starts s = new Starts();
        long begin = schedule.nanoTime();
        s.application(begin, begin + 1);
        s.created(1, begin + 3, begin + 2, 0);
        if (launches.startup != null) {
            launches.startup.ended(s.focus("app.Main", begin + SECOND, loop.trace().nextRecord()));
        }
    }

    private void everything() throws Exception {
        display.draw(400 * MILLI, 0);
        display.draw(5 * MILLI, 0);
        launch();
        loop.busy(30 * SECOND);
        schedule.advance(60 * SECOND);
        int barrier = loop.postBarrier();
        schedule.advance(60 * SECOND);
        loop.removeBarrier(barrier);
        schedule.advance(SECOND);
    }

    /** Switches each detector on, lets the app run, switches it off, and expects that nothing of it is left. */
    private void leavesNothing(Life life) throws Exception {
        for (Detector d : all) {
            set(d, true);
            life.live();
            WeakReference<Object> environment = environment(d);
            assertNotNull(environment.get(), d.name());
            set(d, false);
            assertEquals(0, schedule.waiting(), d.name() + ": wake-ups that wait");
            int posts = loop.posts();
            long runs = schedule.runs();
            int found = world.delivered(d.name()).size();
            hour();
            assertEquals(posts, loop.posts(), d.name() + ": messages");
            assertEquals(runs, schedule.runs(), d.name() + ": wake-ups");
            assertEquals(found, world.delivered(d.name()).size(), d.name() + ": incidents");
            Await.until(d.name() + ": its environment is collected", () -> {
                Await.collect();
                return environment.get() == null;
            });
        }
    }

    @Test
    void anIdleDetectorLeavesNothing() throws Exception {
        leavesNothing(() -> schedule.advance(7 * SECOND + MILLI));
    }

    @Test
    void aDetectorLeavesNothingWhileAMessageRuns() throws Exception {
        leavesNothing(() -> {
            display.draw(5 * MILLI, 0);
            launch();
            loop.busy(40 * SECOND);
            schedule.advance(30 * SECOND);
        });
    }

    @Test
    void aDetectorLeavesNothingWhileABarrierIsThere() throws Exception {
        int[] barrier = new int[1];
        for (int after = 1; after <= 12; after++) {
            int seconds = after;
            leavesNothing(() -> {
                schedule.advance(SECOND);
                barrier[0] = loop.postBarrier();
                schedule.advance(seconds * SECOND);
                // Off is handled before the Looper goes on.
                loop.removeBarrier(barrier[0]);
            });
        }
    }

    @Test
    void eachDetectorWorksWheneverItIsSwitchedOn() throws Exception {
        for (int round = 1; round <= 3; round++) {
            for (Detector d : all) {
                set(d, true);
                everything();
                everything();
                set(d, false);
                assertTrue(world.delivered(d.name()).size() >= round, d.name() + " found nothing in round " + round);
            }
        }
    }
}
