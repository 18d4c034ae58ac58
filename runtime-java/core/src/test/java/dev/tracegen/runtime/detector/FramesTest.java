package dev.tracegen.runtime.detector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.FrameTiming;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the detector of frames reports, on a virtual clock. */
class FramesTest {
    private static final long MILLI = 1000000L;
    private static final long SECOND = 1000000000L;

    private final VirtualSchedule schedule = new VirtualSchedule();
    private final Recorder recorder = Recorder.start(new RecorderOptions().platform(schedule.platform()));
    private final VirtualLoop loop = new VirtualLoop(schedule, recorder);
    private final Found found = new Found(recorder);
    /** The test itself reports the frames. */
    private final Frames frames = new Frames(to -> { }, 9);
    private final Detectors detectors = new Detectors(recorder, loop, schedule);
    private final BusyVsyncs busy = new BusyVsyncs();
    private float hz = 60;
    private long lastVsync;

    @BeforeEach
    void begin() {
        recorder.foreground(true);
        recorder.scene("Feed");
        detectors.add(frames);
    }

    private void on() {
        detectors.set("frames", true);
        schedule.advance(0);
    }

    @AfterEach
    void end() {
        Recorder.setIncidentListener(null);
        recorder.stop();
    }

    /** Lets the main thread work, as one message. */
    private void work(long nanos) {
        long begin = schedule.nanoTime();
        loop.busy(nanos);
        frames.busy();
        schedule.advance(nanos);
        if (lastVsync != 0) {
            busy.add(begin, begin + nanos);
        }
    }

    /** Draws a frame at the next vsync, and returns that. As FrameTimes does on Android. */
    private long draw(long nanos) {
        long interval = (long) (1e9 / hz);
        long now = schedule.nanoTime();
        // Behind a busy time the frame is that of the last vsync.
        long vsync = lastVsync == 0 ? now : lastVsync + Math.max(1, (now - lastVsync) / interval) * interval;
        schedule.advance(Math.max(0, vsync - now));
        long begin = schedule.nanoTime();
        loop.busy(nanos);
        frames.busy();
        schedule.advance(nanos);
        int dropped = lastVsync == 0 ? 0 : busy.before(vsync);
        int others = lastVsync == 0 ? 0 : busy.others(vsync);
        frames.frame(new FrameTiming(vsync, begin, begin + nanos, dropped, hz), others);
        busy.reset(vsync, hz);
        busy.add(begin, begin + nanos);
        busy.ownEnded();
        lastVsync = vsync;
        return vsync;
    }

    private void off() {
        detectors.set("frames", false);
        schedule.advance(0);
    }

    @Test
    void aLateFrameIsReportedWithItsLevelAndAStack() throws Exception {
        on();
        draw(5 * MILLI);
        draw(5 * MILLI);
        long vsync = draw(195 * MILLI);
        draw(5 * MILLI);
        schedule.advance(SECOND);
        Incident i = found.one("dropped-frames");
        assertEquals("10", i.facts.get("dropped"));
        assertEquals("middle", i.facts.get("level"));
        assertEquals("60", i.facts.get("refresh-hz"));
        assertEquals("0", i.facts.get("dropped-by-others"));
        assertEquals("Feed", i.scene);
        assertEquals(vsync, i.beginNanos);
        assertEquals(195 * MILLI, i.wallNanos());
        // After 50 and 150 ms.
        assertEquals(2, i.stacks.size());
        assertEquals(vsync + 50 * MILLI, i.stacks.get(0).nanos);
        assertTrue(i.stacks.get(0).frames.toString().contains("FramesTest"), i.stacks.toString());
    }

    @Test
    void aMessageThatHoldsUpTheNextFrameIsNamedByItsStack() throws Exception {
        on();
        draw(5 * MILLI);
        schedule.advance(MILLI);
        work(400 * MILLI);
        draw(5 * MILLI);
        schedule.advance(SECOND);
        Incident i = found.one("dropped-frames");
        assertEquals(i.facts.get("dropped"), i.facts.get("dropped-by-others"));
        assertEquals("23", i.facts.get("dropped"));
        assertEquals("middle", i.facts.get("level"));
        assertEquals(3, i.stacks.size());
    }

    @Test
    void aFrameOf300MillisIsFrozenAndNotReportedTwice() throws Exception {
        on();
        draw(5 * MILLI);
        draw(800 * MILLI);
        draw(5 * MILLI);
        schedule.advance(SECOND);
        Incident i = found.one("frozen-frame");
        assertEquals("frozen", i.facts.get("level"));
        assertEquals("800", i.facts.get("frame-millis"));
        assertEquals(0, found.of("dropped-frames").size());
    }

    @Test
    void anIdleAppCausesNoWork() throws Exception {
        on();
        for (int k = 0; k < 100; k++) {
            draw(5 * MILLI);
        }
        schedule.advance(SECOND);
        long runs = schedule.runs();
        assertTrue(runs <= 40, runs + " checks for 1.7 s of drawing");
        schedule.advance(3600 * SECOND);
        assertEquals(runs, schedule.runs());
        draw(5 * MILLI);
        schedule.advance(3600 * SECOND);
        assertTrue(schedule.runs() <= runs + 3, schedule.runs() + " checks, " + runs + " before one frame");
    }

    @Test
    void figuresAreThoseOfTheirScene() throws Exception {
        on();
        for (int k = 0; k < 5; k++) {
            draw(4 * MILLI);
        }
        draw(12 * MILLI);
        recorder.scene("Details");
        draw(7 * MILLI);
        schedule.advance(SECOND);
        frames.background();
        schedule.advance(0);
        List<Incident> all = found.of("scene-frames");
        assertEquals(2, all.size());
        assertEquals("Feed", all.get(0).what);
        assertEquals("Feed", all.get(0).scene);
        assertEquals("6", all.get(0).facts.get("frames"));
        assertEquals("12", all.get(0).facts.get("worst-millis"));
        assertEquals("5.33", all.get(0).facts.get("mean-millis"));
        assertEquals("60", all.get(0).facts.get("fps"));
        assertEquals("Details", all.get(1).scene);
        assertEquals("1", all.get(1).facts.get("frames"));
        frames.background();
        schedule.advance(0);
        assertEquals(2, found.of("scene-frames").size(), "a scene without frames is reported");
    }

    @Test
    void tenSecondsOfDrawingAreASlice() throws Exception {
        on();
        for (int k = 0; k < 1300; k++) {
            draw(4 * MILLI);
            if (k % 100 == 50) {
                // Time without drawing does not count.
                schedule.advance(3 * SECOND);
            }
        }
        schedule.advance(SECOND);
        assertEquals(2, found.of("scene-frames").size());
        off();
        List<Incident> all = found.of("scene-frames");
        assertEquals(3, all.size());
        int sum = 0;
        for (Incident i : all) {
            sum += Integer.parseInt(i.facts.get("frames"));
        }
        assertEquals(1300, sum);
    }

    @Test
    void theLevelFollowsTheRefreshRate() throws Exception {
        on();
        for (int k = 0; k < 20; k++) {
            draw(4 * MILLI);
        }
        hz = 120;
        for (int k = 0; k < 20; k++) {
            draw(4 * MILLI);
        }
        // 14 frames at 120 Hz are not yet 9 at 60 Hz.
        draw(130 * MILLI);
        draw(4 * MILLI);
        draw(195 * MILLI);
        off();
        Incident i = found.one("dropped-frames");
        assertEquals("120", i.facts.get("refresh-hz"));
        assertEquals("22", i.facts.get("dropped"));
        assertEquals("middle", i.facts.get("level"));
        Incident s = found.one("scene-frames");
        assertEquals("60-120", s.facts.get("refresh-hz"));
        assertEquals("43", s.facts.get("frames"));
        assertEquals("1", s.facts.get("level-normal"));
        assertEquals("1", s.facts.get("level-middle"));
    }

    @Test
    void framesAreCountedInPlaysTerms() throws Exception {
        on();
        for (long millis : new long[] {4, 16, 17, 300, 700, 701}) {
            lastVsync = 0; // each begins at its vsync
            draw(millis * MILLI);
        }
        off();
        Incident s = found.one("scene-frames");
        assertEquals("6", s.facts.get("frames"));
        assertEquals("4", s.facts.get("play-slow-frames"));
        assertEquals("1", s.facts.get("play-frozen-frames"));
        assertEquals("3", s.facts.get("frozen-frames"));
    }

    @Test
    void nothingIsReportedOfATimeInWhichTheProcessDidNotRun() throws Exception {
        on();
        draw(4 * MILLI);
        loop.busy(20 * MILLI);
        frames.busy();
        schedule.advance(5 * MILLI);
        long vsync = schedule.nanoTime();
        schedule.freeze(20 * SECOND);
        schedule.advance(100 * MILLI);
        frames.frame(new FrameTiming(vsync, vsync, vsync + 20 * SECOND + 15 * MILLI, 0, 60), 0);
        schedule.advance(SECOND);
        schedule.debugger(true);
        lastVsync = 0;
        draw(500 * MILLI);
        off();
        assertEquals(0, found.of("frozen-frame").size());
        assertEquals(0, found.of("dropped-frames").size());
        Incident s = found.one("scene-frames");
        assertEquals("1", s.facts.get("frames"));
        assertEquals("2", s.facts.get("lost-reports"));
    }

    @Test
    void inTheBackgroundNothingIsDone() throws Exception {
        on();
        recorder.foreground(false);
        long runs = schedule.runs();
        draw(500 * MILLI);
        schedule.advance(SECOND);
        assertEquals(runs, schedule.runs());
        off();
        assertEquals(0, found.of("scene-frames").size());
    }

    @Test
    void incidentsOfOneSliceAreLimitedAndTheOthersCounted() throws Exception {
        on();
        for (int k = 0; k < 15; k++) {
            draw(220 * MILLI);
        }
        off();
        assertEquals(10, found.of("dropped-frames").size());
        Incident s = found.one("scene-frames");
        assertEquals("5", s.facts.get("unreported"));
        assertEquals("15", s.facts.get("level-middle"));
    }
}
