package dev.tracegen.runtime.detector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the detector of late answers to input events reports, on a virtual clock. */
class NativeTouchTest {
    private static final long SECOND = 1000000000L;

    private final VirtualSchedule schedule = new VirtualSchedule();
    private final Recorder recorder = Recorder.start(new RecorderOptions().platform(schedule.platform()));
    private final VirtualLoop loop = new VirtualLoop(schedule, recorder);
    private final Found found = new Found(recorder);
    private final Source source = new Source();
    private final Detectors detectors = new Detectors(recorder, loop, schedule);

    /** The native side, as the test wants it. */
    private static final class Source extends TouchSource {
        final List<long[]> waiting = new ArrayList<long[]>();
        final List<long[]> answered = new ArrayList<long[]>();
        String problem;
        int installs;
        int removals;
        int reads;

        @Override
        String install(long lateNanos) {
            installs++;
            return problem;
        }

        @Override
        void remove() {
            removals++;
        }

        @Override
        String slots() {
            return "3";
        }

        @Override
        int pending(long[] events) {
            reads++;
            return copy(waiting, events);
        }

        @Override
        int late(long[] events) {
            int n = copy(answered, events);
            answered.clear();
            return n;
        }

        @Override
        int flags() {
            return 0;
        }

        private static int copy(List<long[]> from, long[] to) {
            int n = 0;
            for (long[] event : from) {
                System.arraycopy(event, 0, to, 3 * n++, 3);
            }
            return n;
        }
    }

    private void on() {
        detectors.add(new NativeTouch(new RecorderOptions(), source));
        detectors.set(NativeTouch.NAME, true);
        schedule.advance(0);
    }

    @AfterEach
    void end() {
        recorder.stop();
        Recorder.setIncidentListener(null);
    }

    private long receive(int fd) {
        long now = schedule.nanoTime();
        source.waiting.add(new long[] {fd, 99, now});
        return now;
    }

    private void answer(int fd) {
        for (long[] event : new ArrayList<long[]>(source.waiting)) {
            if (event[0] == fd) {
                source.waiting.remove(event);
                source.answered.add(new long[] {fd, event[2], schedule.nanoTime()});
            }
        }
    }

    @Test
    void lateAnswerIsFoundWhileItLastsAndEnds() throws Exception {
        on();
        schedule.advance(SECOND / 3);
        long begin = receive(7);
        schedule.advance(5 * SECOND - 1);
        assertEquals(0, found.of("touch-lag").size());
        schedule.advance(2);
        Incident first = found.one("touch-lag");
        assertEquals(begin, first.beginNanos);
        assertEquals(0, first.endNanos);
        assertEquals("7", first.facts.get("connection"));
        assertEquals("3", first.facts.get("slots"));
        assertEquals(1, first.stacks.size());
        schedule.advance(2 * SECOND);
        answer(7);
        long end = schedule.nanoTime();
        schedule.advance(5 * SECOND);
        List<Incident> all = found.of("touch-lag");
        assertEquals(2, all.size());
        assertEquals(first.number, all.get(1).number);
        assertEquals(end, all.get(1).endNanos);
        assertEquals("true", all.get(1).facts.get("answered"));
    }

    @Test
    void answersInTimeAreSilent() throws Exception {
        on();
        for (int k = 0; k < 900; k++) {
            receive(7);
            receive(8);
            schedule.advance(4 * SECOND);
            answer(7);
            answer(8);
        }
        assertEquals(0, found.of("touch-lag").size());
        assertTrue(source.reads < 3000, "reads: " + source.reads);
    }

    @Test
    void eventsThatWaitedMeanwhileAreNoLagOfTheirOwn() throws Exception {
        on();
        receive(7);
        schedule.advance(SECOND);
        receive(8);
        schedule.advance(SECOND * 4 + 1);
        assertEquals(1, found.of("touch-lag").size());
        answer(7);
        answer(8);
        schedule.advance(10 * SECOND);
        assertEquals(2, found.of("touch-lag").size());
    }

    @Test
    void connectionThatIsClosedEndsTheLag() throws Exception {
        on();
        receive(7);
        schedule.advance(6 * SECOND);
        source.waiting.clear();
        schedule.advance(5 * SECOND);
        assertEquals("false", found.of("touch-lag").get(1).facts.get("answered"));
    }

    @Test
    void frozenProcessIsNoLag() throws Exception {
        on();
        schedule.advance(SECOND / 10);
        receive(7);
        schedule.freeze(3600 * SECOND);
        schedule.advance(SECOND);
        answer(7);
        schedule.advance(20 * SECOND);
        assertEquals(0, found.of("touch-lag").size());
    }

    @Test
    void unavailableSaysWhy() {
        source.problem = "libinput.so has 0 slots";
        on();
        assertEquals("not available: libinput.so has 0 slots", recorder.detectorStates().get(NativeTouch.NAME));
        assertEquals(0, source.removals);
    }

    @Test
    void offRemovesTheHookAndReadsNoMore() {
        on();
        detectors.set(NativeTouch.NAME, false);
        schedule.advance(0);
        int reads = source.reads;
        schedule.advance(60 * SECOND);
        assertEquals(1, source.removals);
        assertEquals(reads, source.reads);
    }

    @Test
    void libraryThatIsMissingIsNamed() {
        String why = new NativeTouch(new RecorderOptions()).unavailable();
        assertEquals("the native library is not in this app", why);
        assertEquals(why, new NativeQuit(null).unavailable());
    }
}
