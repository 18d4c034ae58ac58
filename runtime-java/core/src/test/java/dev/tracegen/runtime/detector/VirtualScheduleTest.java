package dev.tracegen.runtime.detector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The clock and the Looper that tests of detectors stand on. */
class VirtualScheduleTest {
    private static final long SECOND = 1000000000L;

    private final VirtualSchedule schedule = new VirtualSchedule();
    private final long begin = schedule.nanoTime();
    private final Recorder recorder = Recorder.start(new RecorderOptions().platform(schedule.platform()));
    private final VirtualLoop loop = new VirtualLoop(schedule, recorder);
    private final List<String> log = new ArrayList<String>();

    @AfterEach
    void stop() {
        recorder.stop();
    }

    private Runnable note(String what) {
        return () -> log.add(what + (schedule.nanoTime() - begin) / SECOND);
    }

    @Test
    void workRunsAtItsTimeInItsOrder() {
        schedule.at(begin + 2 * SECOND, note("b"));
        schedule.at(begin + SECOND, note("a"));
        schedule.at(begin + 2 * SECOND, note("c"));
        schedule.at(begin + 3 * SECOND, note("never")).cancel();
        schedule.advance(10 * SECOND);
        assertEquals("[a1, b2, c2]", log.toString());
        assertEquals(begin + 10 * SECOND, schedule.nanoTime());
    }

    @Test
    void aFreezeMakesWorkLateAndPostponesTheEndOfMessages() {
        loop.busy(2 * SECOND);
        schedule.at(begin + 2 * SECOND, note("due2-"));
        schedule.advance(SECOND);
        schedule.freeze(5 * SECOND);
        schedule.advance(SECOND / 2);
        assertEquals("[due2-6]", log.toString());
        assertTrue(loop.runningSince() != 0);
        schedule.advance(SECOND);
        assertEquals(0, loop.runningSince());
    }

    @Test
    void aStarvedThreadIsLateAndMessagesAreNot() {
        loop.busy(2 * SECOND);
        schedule.at(begin + SECOND, note("due1-"));
        schedule.starve(3 * SECOND);
        assertEquals(0, loop.runningSince());
        schedule.advance(0);
        assertEquals("[due1-3]", log.toString());
    }

    @Test
    void messagesRunOneAfterTheOther() {
        loop.message(SECOND, 2 * SECOND, "x", note("x"));
        loop.post(note("behind"), false);
        loop.message(2 * SECOND, 0, "y", note("y"));
        schedule.advance(SECOND);
        assertEquals(begin + SECOND, loop.runningSince());
        schedule.advance(9 * SECOND);
        assertEquals("[behind0, x1, y3]", log.toString());
        assertEquals(0, loop.waiting());
    }

    @Test
    void aBarrierHoldsUpSynchronousWorkOnly() {
        int token = loop.postBarrier();
        loop.post(note("sync"), false);
        loop.post(note("async"), true);
        schedule.advance(SECOND);
        assertEquals("[async0]", log.toString());
        assertEquals(token, loop.barrier());
        assertTrue(loop.removeBarrier(token));
        schedule.advance(SECOND);
        assertEquals("[async0, sync1]", log.toString());
        assertEquals(0, loop.barrier());
    }
}
