package dev.tracegen.runtime.detector;

import static dev.tracegen.runtime.detector.World.MILLI;
import static dev.tracegen.runtime.detector.World.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.PendingMessage;
import dev.tracegen.runtime.RecorderOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AnrTest {
    private final World world = new World();
    private final VirtualSchedule schedule = world.schedule;
    private final VirtualLoop loop = world.loop;
    private String state;
    private int questions;
    private boolean silent;
    private final AnrEvidence evidence = () -> {
        questions++;
        return state;
    };
    private final Anr anr = new Anr(new RecorderOptions(), evidence, q -> {
        if (!silent) {
            q.run();
        } else {
            questions++;
        }
    });

    AnrTest() {
        loop.traced = true;
        world.on(anr);
        schedule.advance(SECOND / 7);
    }

    @AfterEach
    void stop() throws Exception {
        world.stop();
    }

    private void message(long duration, String text) {
        loop.message(0, duration, text, null);
    }

    private static String facts(Incident i) {
        return i.kind + " " + i.wallNanos() / MILLI + " " + i.facts;
    }

    @Test
    void aMessageThatRunsForTheLimitIsReportedTwiceAndIsNotConfirmed() throws Exception {
        message(70 * SECOND, "Handler (app.Slow) {1a} null: 3");
        schedule.advance(2 * SECOND);
        assertEquals(1, anr.found());
        schedule.advance(3 * SECOND - 1);
        assertEquals(1, anr.found());
        schedule.advance(1);
        assertEquals(2, anr.found());
        schedule.advance(100 * SECOND);
        List<Incident> all = world.stop();
        assertEquals(2, all.size());
        // However long it lasts, both are there with their ends.
        assertEquals("lag 70000 {limit-millis=5000, limit-of=input}", facts(all.get(0)));
        assertEquals("anr 70000 {limit-millis=5000, limit-of=input, confirmed-by=none}", facts(all.get(1)));
        assertEquals("Handler (app.Slow) null: 3", all.get(1).what);
        assertEquals(all.get(1).beginNanos + 2 * SECOND, all.get(0).stacks.get(0).nanos);
        assertEquals(all.get(1).beginNanos + 5 * SECOND, all.get(1).stacks.get(0).nanos);
    }

    @Test
    void aMessageBelowTwoSecondsIsNotReported() {
        message(1999 * MILLI, "Handler (app.Slow) {1a} null: 3");
        schedule.advance(60 * SECOND);
        assertEquals(0, anr.found());
        assertEquals(0, questions);
    }

    @Test
    void eachKindOfWorkHasItsLimit() throws Exception {
        String h = "Handler (android.app.ActivityThread$H) {1a2b} null: ";
        String job = "Handler (android.app.job.JobServiceEngine$JobHandler) {1a2b} null: 0";
        String[] texts = {h + 113, h + 114, h + 115, h + 121, h + 110, job, h + 159, "Handler (x.Y) {1} null: 113"};
        String[] limits = {"broadcast 10000 60000", "service 20000 200000", "service 20000 200000",
            "service 20000 200000", "provider 10000 null", "job 8000 null", "input 5000 null", "input 5000 null"};
        for (int k = 0; k < texts.length; k++) {
            long millis = Long.parseLong(limits[k].split(" ")[1]);
            message(millis * MILLI - 1, texts[k]);
            schedule.advance(30 * SECOND);
            message(millis * MILLI + 1, texts[k]);
            schedule.advance(30 * SECOND);
        }
        List<Incident> all = world.stop();
        List<String> got = new ArrayList<String>();
        for (Incident i : all) {
            if (i.kind.equals("anr")) {
                got.add(i.facts.get("limit-of") + " " + i.facts.get("limit-millis") + " "
                        + i.facts.get("background-limit-millis"));
            }
        }
        assertEquals(String.join("\n", limits), String.join("\n", got));
        assertEquals(3 * texts.length, all.size());
    }

    @Test
    void theSystemsStatementConfirmsBeforeTheLimitOfTheMessage() throws Exception {
        message(15 * SECOND, "Handler (android.app.ActivityThread$H) {1a2b} null: 114");
        schedule.advance(5500 * MILLI);
        assertEquals(1, anr.found());
        state = "ANR Input dispatching timed out (x)\nat 7";
        schedule.advance(SECOND);
        assertEquals(2, anr.found());
        schedule.advance(60 * SECOND);
        // The dialog is still shown. That is no second ANR.
        message(15 * SECOND, "Handler (android.app.ActivityThread$H) {1a2b} null: 114");
        schedule.advance(60 * SECOND);
        List<Incident> all = world.stop();
        assertEquals(3, all.size());
        assertEquals("anr 15000 {limit-millis=20000, limit-of=service, background-limit-millis=200000,"
                + " confirmed-by=process-error-state}", facts(all.get(1)));
        assertEquals("lag", all.get(2).kind);
    }

    private void waitingSince(long nanos) {
        loop.trace().setPendingQueue(max -> Collections.singletonList(
                new PendingMessage(nanos, 1, "app.H", null, 0, false)));
    }

    @Test
    void aMessageThatWaitsConfirmsToo() throws Exception {
        world.recorder.foreground(true);
        message(9 * SECOND, "Handler (app.Slow) {1a} null: 3");
        waitingSince(schedule.nanoTime() + 4 * SECOND);
        schedule.advance(5500 * MILLI);
        assertEquals(2, anr.found());
        schedule.advance(SECOND);
        state = "ANR Broadcast of Intent {}\nat 9";
        schedule.advance(60 * SECOND);
        List<Incident> all = world.stop();
        assertEquals("anr 9000 {limit-millis=5000, limit-of=input,"
                + " confirmed-by=process-error-state,waiting-message}", facts(all.get(1)));
    }

    @Test
    void inTheBackgroundAMessageMayWaitForTenSecondsAndOneWithoutATimeIsNoEvidence() throws Exception {
        message(9 * SECOND, "Handler (app.Slow) {1a} null: 3");
        waitingSince(schedule.nanoTime());
        schedule.advance(60 * SECOND);
        message(12 * SECOND, "Handler (app.Slow) {1a} null: 3");
        waitingSince(0);
        schedule.advance(60 * SECOND);
        List<Incident> all = world.stop();
        assertEquals("none", all.get(1).facts.get("confirmed-by"));
        assertEquals("none", all.get(3).facts.get("confirmed-by"));
    }

    @Test
    void aQuestionThatIsNeverAnsweredIsAskedOnce() throws Exception {
        silent = true;
        message(60 * SECOND, "Handler (app.Slow) {1a} null: 3");
        schedule.advance(100 * SECOND);
        assertEquals(1, questions);
        assertEquals("none", world.stop().get(1).facts.get("confirmed-by"));
    }

    @Test
    void aSignalIsReportedAtOnceAndConfirmedWithinTwentySeconds() throws Exception {
        assertTrue(anr.quitSignal(schedule.nanoTime()));
        schedule.advance(15 * SECOND);
        state = "ANR executing service x/.Y\nat 1";
        schedule.advance(60 * SECOND);
        anr.quitSignal(schedule.nanoTime());
        schedule.advance(21 * SECOND);
        // Too late, and the same statement as before.
        schedule.advance(60 * SECOND);
        assertEquals(32 + 41, questions, "every half second");
        List<Incident> all = world.stop();
        assertEquals(2, all.size());
        assertEquals("sigquit sigquit", all.get(0).detector + " " + all.get(0).kind);
        assertEquals("{confirmed-by=process-error-state}", all.get(0).facts.toString());
        assertEquals("{confirmed-by=none}", all.get(1).facts.toString());
        assertEquals(1, all.get(0).stacks.size());
    }

    @Test
    void aSignalWhileTheDetectorIsOffDoesNothing() throws Exception {
        world.detectors.set("anr", false);
        schedule.advance(0);
        assertFalse(anr.quitSignal(schedule.nanoTime()), "the caller reports the signal itself");
        schedule.advance(60 * SECOND);
        assertEquals(0, world.stop().size());
    }
}
