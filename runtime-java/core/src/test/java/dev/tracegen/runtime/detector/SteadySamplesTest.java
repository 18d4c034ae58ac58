package dev.tracegen.runtime.detector;

import static dev.tracegen.runtime.detector.World.MILLI;
import static dev.tracegen.runtime.detector.World.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.RecorderOptions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SteadySamplesTest {
    private final World world = new World();
    private final VirtualSchedule schedule = world.schedule;
    private final VirtualLoop loop = world.loop;
    private final SteadySamples detector =
            SteadySamples.create(World.properties("steady-samples.threshold-millis", "1000"));

    @AfterEach
    void stop() throws Exception {
        world.stop();
    }

    @Test
    void samplesBeginAtFourFifthsOfTheThresholdAndGoOnAtAFixedInterval() throws Exception {
        loop.traced = true;
        world.on(detector);
        schedule.advance(7 * SECOND / 3);
        long begin = schedule.nanoTime();
        loop.message(0, 2000 * MILLI, "Handler (app.Slow) {1a2b} null: 5", null);
        schedule.advance(799 * MILLI);
        assertEquals(0, detector.samples());
        schedule.advance(MILLI);
        assertEquals(1, detector.samples());
        schedule.advance(299 * MILLI);
        assertEquals(1, detector.samples());
        schedule.advance(MILLI);
        assertEquals(2, detector.samples());
        schedule.advance(20 * SECOND);
        List<Incident> all = world.stop();
        assertEquals(1, all.size());
        Incident i = all.get(0);
        // At 800, 1100, 1400, 1700 and 2000 ms, when it has just not ended.
        int samples = Integer.parseInt(i.facts.get("samples"));
        assertTrue(samples == 4 || samples == 5, samples + " samples");
        assertEquals("steady-samples samples Handler (app.Slow) null: 5", i.detector + " " + i.kind + " " + i.what);
        assertEquals(begin, i.beginNanos);
        assertEquals(2 * SECOND, i.wallNanos());
        assertEquals(begin + 800 * MILLI, i.stacks.get(0).nanos);
        assertEquals("0", i.facts.get("late-samples"));
        assertEquals("300", i.facts.get("interval-millis"));
        // The stacks are equal but for the line of the test that waits.
        int sum = 0;
        for (String count : i.facts.get("counts").split(",")) {
            sum += Integer.parseInt(count);
        }
        assertEquals(samples, sum);
        assertTrue(i.stacks.size() < samples, i.stacks.size() + " entries of " + samples + " samples");
    }

    @Test
    void aMessageBelowTheThresholdIsNotReported() {
        world.on(detector);
        loop.busy(950 * MILLI);
        schedule.advance(20 * SECOND);
        assertTrue(detector.samples() > 0, "no sample");
        assertEquals(0, detector.found());
    }

    @Test
    void theThresholdIsThatOfTheRecorderIfNoneIsGiven() {
        SteadySamples d = SteadySamples.create(new RecorderOptions());
        world.on(d);
        loop.busy(560 * MILLI);
        schedule.advance(559 * MILLI);
        assertEquals(0, d.samples());
        schedule.advance(2 * SECOND);
        loop.busy(701 * MILLI);
        schedule.advance(2 * SECOND);
        assertEquals(1, d.found());
    }

    private void deep(int frames, long nanos) {
        if (frames > 0) {
            deep(frames - 1, nanos);
        } else {
            schedule.advance(nanos);
        }
    }

    @Test
    void atMostOneHundredStacksAreKeptAndTheLastOnes() throws Exception {
        world.on(detector);
        loop.busy(3600 * SECOND);
        schedule.advance(700 * MILLI);
        for (int k = 0; k < 150; k++) {
            deep(k, 300 * MILLI);
        }
        schedule.advance(3600 * SECOND);
        List<Incident> all = world.stop();
        assertEquals(1, all.size());
        assertEquals(SteadySamples.MAX_STACKS, all.get(0).stacks.size());
        assertTrue(Integer.parseInt(all.get(0).facts.get("stacks-left-out")) >= 50, "left out");
        assertTrue(all.get(0).stacks.get(0).frames.toString().contains("deep"), "the last ones are kept");
    }

    @Test
    void aBusyMachineIsSaidByLateSamples() throws Exception {
        world.on(detector);
        loop.busy(10 * SECOND);
        schedule.advance(1000 * MILLI);
        for (int k = 0; k < 3; k++) {
            // Late by 450 ms: less than what counts as a freeze.
            schedule.advance(50 * MILLI);
            schedule.starve(500 * MILLI);
        }
        schedule.advance(20 * SECOND);
        List<Incident> all = world.stop();
        assertEquals(1, all.size());
        assertTrue(Integer.parseInt(all.get(0).facts.get("late-samples")) >= 2, all.get(0).facts.toString());
    }
}
