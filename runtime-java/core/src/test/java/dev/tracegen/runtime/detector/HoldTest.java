package dev.tracegen.runtime.detector;

import static dev.tracegen.runtime.detector.World.MILLI;
import static dev.tracegen.runtime.detector.World.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.RecorderOptions;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HoldTest {
    private final World world = new World();
    private final VirtualSchedule schedule = world.schedule;
    private final VirtualLoop loop = world.loop;
    private final Hold hold = Hold.create(new RecorderOptions());

    @AfterEach
    void stop() throws Exception {
        world.stop();
    }

    @Test
    void theStackIsTakenExactlyWhenTheMessageHasRunForThatTime() throws Exception {
        loop.traced = true;
        world.on(hold);
        Random random = new Random(4);
        long[] begins = new long[20];
        for (int k = 0; k < begins.length; k++) {
            schedule.advance(3 * SECOND + random.nextInt(1000000000));
            begins[k] = schedule.nanoTime();
            loop.message(0, 1001 * MILLI, "Handler (app.Slow) {1a2b} app.Work@3c: " + k, null);
            schedule.advance(2 * SECOND);
            loop.busy(999 * MILLI);
            schedule.advance(2 * SECOND);
        }
        List<Incident> all = world.stop();
        assertEquals(begins.length, all.size());
        for (int k = 0; k < begins.length; k++) {
            Incident i = all.get(k);
            assertEquals("hold hold", i.detector + " " + i.kind);
            assertEquals("Handler (app.Slow) app.Work: " + k, i.what);
            assertEquals(begins[k], i.beginNanos);
            assertEquals(begins[k] + SECOND, i.stacks.get(0).nanos);
            assertEquals(begins[k] + 1001 * MILLI, i.endNanos);
            assertEquals("1000", i.facts.get("hold-millis"));
        }
    }

    @Test
    void noWorkIsDoneForAMessage() {
        world.on(hold);
        long before = schedule.runs();
        for (int k = 0; k < 10000; k++) {
            loop.busy(MILLI);
            schedule.advance(2 * MILLI);
        }
        assertEquals(0, loop.posts());
        // 20 seconds, and two looks in each at most; a look during a message may add one.
        assertTrue(schedule.runs() - before <= 82, schedule.runs() - before + " looks");
        assertEquals(0, hold.found());
    }

    @Test
    void aFreezeIsNoTimeOfTheMessage() {
        world.on(hold);
        schedule.advance(SECOND / 3);
        loop.busy(800 * MILLI);
        schedule.advance(400 * MILLI);
        schedule.freeze(3600 * SECOND);
        schedule.advance(10 * SECOND);
        assertEquals(0, hold.found());
        loop.busy(1500 * MILLI);
        schedule.advance(10 * SECOND);
        assertEquals(1, hold.found());
    }
}
