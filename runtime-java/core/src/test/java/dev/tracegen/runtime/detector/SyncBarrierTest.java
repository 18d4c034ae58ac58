package dev.tracegen.runtime.detector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Leaked and other sync barriers on a virtual Looper. */
class SyncBarrierTest {
    private static final long SECOND = 1000000000L;
    private static final long HOUR = 3600 * SECOND;

    private final VirtualSchedule schedule = new VirtualSchedule();
    private List<Incident> incidents;
    private Found found;
    private Recorder recorder;
    private VirtualLoop loop;
    private Detectors detectors;

    @BeforeEach
    void begin() {
        recorder = Recorder.start(new RecorderOptions().platform(schedule.platform()));
        found = new Found(recorder);
        loop = new VirtualLoop(schedule, recorder);
        detectors = new Detectors(recorder, loop, schedule);
    }

    @AfterEach
    void end() {
        recorder.stop();
        Recorder.setIncidentListener(null);
    }

    private void on() {
        detectors.add(new SyncBarrier(new RecorderOptions()));
        detectors.set("sync-barrier", true);
        schedule.advance(SECOND / 10);
        assertEquals("on", recorder.detectorStates().get("sync-barrier"));
    }

    private void delivered(int count) throws Exception {
        incidents = found.of("sync-barrier");
        assertEquals(count, incidents.size(), "incidents");
    }

    @Test
    void aHealthyHourIsSilentAndPostsOneMessageAtEachPoll() throws Exception {
        on();
        for (int k = 0; k < 3600; k++) {
            // As traversals do: a barrier for one frame.
            int token = loop.postBarrier();
            loop.message(0, SECOND / 100);
            schedule.advance(SECOND / 60);
            loop.removeBarrier(token);
            schedule.advance(SECOND - SECOND / 60);
        }
        assertEquals(1801, loop.posts(), "posted to a healthy Looper, with the one at the start");
        delivered(0);
    }

    @Test
    void aLeakedBarrierIsReportedAndLeft() throws Exception {
        on();
        schedule.advance(SECOND);
        long begin = schedule.nanoTime();
        int token = loop.postBarrier();
        boolean[] ran = new boolean[1];
        loop.message(0, 0, "text", () -> ran[0] = true);
        schedule.advance(HOUR);
        assertEquals(token, loop.barrier());
        assertFalse(ran[0], "the message behind it has run");
        delivered(1);
        Incident i = incidents.get(0);
        assertEquals("sync-barrier", i.detector);
        assertEquals("sync-barrier", i.kind);
        assertTrue(i.beginNanos >= begin && i.beginNanos <= begin + 2 * SECOND, "it began " + (i.beginNanos - begin));
        assertEquals(0, i.endNanos);
        assertFalse(i.facts.containsKey("token"), "a token is invented");
        assertEquals("5", i.facts.get("asynchronous-answered"));
        assertEquals("0", i.facts.get("synchronous-answered"));
        long age = Long.parseLong(i.facts.get("age-millis"));
        assertTrue(age >= 7000 && age <= 9000, "age " + age);
        // The app removes it: the incident has an end.
        assertTrue(loop.removeBarrier(token));
        long gone = schedule.nanoTime();
        schedule.advance(5 * SECOND);
        delivered(2);
        assertEquals(incidents.get(0).number, incidents.get(1).number);
        assertEquals(gone, incidents.get(1).endNanos);
        assertTrue(loop.waiting() <= 1, "probes that wait");
    }

    @Test
    void aBarrierThatIsRemovedMeanwhileIsNone() throws Exception {
        on();
        int token = loop.postBarrier();
        schedule.advance(7 * SECOND);
        assertTrue(loop.posts() > 1, "no round has begun");
        assertTrue(loop.removeBarrier(token));
        schedule.advance(60 * SECOND);
        assertEquals(0, loop.waiting(), "probes that wait");
        delivered(0);
    }

    @Test
    void aBusyThreadIsNone() throws Exception {
        on();
        loop.busy(3 * 60 * SECOND);
        int token = loop.postBarrier();
        schedule.advance(2 * 60 * SECOND);
        delivered(0);
        loop.removeBarrier(token);
        schedule.advance(2 * 60 * SECOND);
        assertEquals(0, loop.waiting(), "probes that wait");
        delivered(0);
    }

    @Test
    void aBarrierBehindALegitimateOneIsFound() throws Exception {
        on();
        int legitimate = loop.postBarrier();
        int leaked = loop.postBarrier();
        schedule.advance(4 * SECOND);
        loop.removeBarrier(legitimate);
        schedule.advance(30 * SECOND);
        delivered(1);
        assertEquals(leaked, loop.barrier());
    }

    @Test
    void afterAStopInARoundNothingWaits() throws Exception {
        on();
        int token = loop.postBarrier();
        schedule.advance(6 * SECOND);
        assertTrue(loop.waiting() > 1, "no probes");
        detectors.set("sync-barrier", false);
        schedule.advance(SECOND / 10);
        assertEquals(1, loop.waiting(), "the barrier and what else waits");
        schedule.advance(60 * SECOND);
        assertEquals(token, loop.barrier());
        delivered(0);
        // And on again.
        detectors.set("sync-barrier", true);
        schedule.advance(60 * SECOND);
        delivered(1);
    }

    @Test
    void aFrozenProcessIsNone() throws Exception {
        on();
        int token = loop.postBarrier();
        schedule.freeze(HOUR);
        schedule.advance(SECOND);
        loop.removeBarrier(token);
        schedule.advance(60 * SECOND);
        assertEquals(31, loop.posts(), "more than one message at each poll: probes for a barrier of a frozen process");
        delivered(0);
    }

    @Test
    void aLateRoundDoesNotCount() throws Exception {
        on();
        loop.postBarrier();
        schedule.advance(6 * SECOND);
        // The fourth and fifth round would end in this time.
        schedule.starve(20 * SECOND);
        delivered(0);
        schedule.advance(10 * SECOND);
        delivered(1);
        assertEquals("5", incidents.get(0).facts.get("asynchronous-answered"));
    }

    @Test
    void withoutAsynchronousMessagesItIsSwitchedOff() throws Exception {
        loop.hasAsynchronous = false;
        detectors.add(new SyncBarrier(new RecorderOptions()));
        detectors.set("sync-barrier", true);
        loop.postBarrier();
        schedule.advance(60 * SECOND);
        assertTrue(recorder.detectorStates().get("sync-barrier").startsWith("off, because it failed"),
                recorder.detectorStates().toString());
        delivered(0);
    }
}
