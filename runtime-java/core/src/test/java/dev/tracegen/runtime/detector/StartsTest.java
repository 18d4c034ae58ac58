package dev.tracegen.runtime.detector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Which events of activities make which start. Times are milliseconds here. */
class StartsTest {
    private final Starts starts = new Starts();

    /** A process that began at 1000, its application at 1200, and whose main thread was free at 1500. */
    private void process(int importance) {
        starts.application(1000, 1200);
        starts.importance(importance);
        starts.free(1500);
    }

    private void show(int activity, long created, long message) {
        starts.created(activity, created, message, 40);
        starts.started(activity, created + 10, message, 40);
        starts.resumed(activity, created + 20);
    }

    private void hide(int activity, long paused) {
        starts.paused(activity, paused);
        starts.stopped(activity, false);
    }

    @Test
    void aColdStartHasThreeSteps() {
        process(100);
        show(1, 1600, 1520);
        assertTrue(starts.isOpen());
        Start s = starts.focus("app.Main", 1900, 77);
        assertEquals(Start.Type.COLD, s.type);
        assertEquals(200, s.processNanos());
        assertEquals(320, s.applicationStepNanos());
        assertEquals(380, s.activityNanos());
        assertEquals(900, s.totalNanos());
        assertEquals(0, s.firstRecord);
        assertEquals(77, s.endRecord);
        assertTrue(s.processKnown && !s.processForOther);
        assertNull(starts.focus("app.Main", 2000, 78), "the second focus ends no start");
    }

    @Test
    void aColdStartWithoutTheTimeOfItsProcessBeginsWithTheApplication() {
        starts.application(0, 1200);
        starts.applicationNotAfter(1100);
        // The message of the application itself is the one that runs: the monitor did not see the launch.
        show(1, 1600, 1050);
        Start s = starts.focus("app.Main", 1900, 77);
        assertEquals(Start.Type.COLD, s.type);
        assertFalse(s.processKnown);
        assertEquals(0, s.processNanos());
        assertEquals(500, s.applicationStepNanos());
        assertEquals(800, s.totalNanos());
    }

    @Test
    void aProcessThatWasCreatedForSomethingElseHasNoColdStart() {
        process(300);
        show(1, 1600, 1520);
        Start s = starts.focus("app.Main", 1900, 77);
        assertEquals(Start.Type.WARM, s.type);
        assertTrue(s.processForOther);
        assertEquals(1520, s.beginNanos);
        assertEquals(40, s.firstRecord);
    }

    @Test
    void aFirstActivityLongAfterTheApplicationIsWarm() {
        starts.application(1000, 1200);
        starts.free(1500);
        long later = 6000L * 1000000L;
        show(1, later + 10, later);
        Start s = starts.focus("app.Main", later + 300, 77);
        assertEquals(Start.Type.WARM, s.type);
        assertTrue(s.processForOther);
        assertEquals(300, s.totalNanos());
    }

    @Test
    void aProcessWithoutActivityHasNoStart() {
        process(300);
        assertFalse(starts.isOpen());
        assertNull(starts.focus("app.Main", 1900, 77));
    }

    @Test
    void warmAndHotStartsAreThoseOfAnAppInTheBackground() {
        process(100);
        show(1, 1600, 1520);
        assertNotNull(starts.focus("app.Main", 1900, 77));
        // Another activity of the app is no start.
        starts.paused(1, 2000);
        show(2, 2010, 2005);
        starts.stopped(1, false);
        assertNull(starts.focus("app.Details", 2100, 80));
        hide(2, 3000);
        // Back to the one that exists.
        starts.started(2, 4010, 4000, 90);
        starts.resumed(2, 4020);
        Start hot = starts.focus("app.Details", 4100, 95);
        assertEquals(Start.Type.HOT, hot.type);
        assertEquals(100, hot.totalNanos());
        assertEquals(90, hot.firstRecord);
        hide(2, 5000);
        starts.destroyed(2);
        starts.destroyed(1);
        show(3, 6010, 6000);
        Start warm = starts.focus("app.Main", 6200, 99);
        assertEquals(Start.Type.WARM, warm.type);
        assertEquals(200, warm.totalNanos());
        assertFalse(warm.processForOther);
    }

    @Test
    void aStartIsNoneIfTheUserLeavesAndHoweverLongItTakesIfNot() {
        process(100);
        show(1, 1600, 1520);
        hide(1, 2000);
        assertFalse(starts.isOpen());
        starts.started(1, 9010, 9000, 70);
        starts.resumed(1, 9020);
        assertEquals(Start.Type.HOT, starts.focus("app.Main", 40L * 1000000000L, 77).type);

        Starts slow = new Starts();
        slow.application(1000, 1200);
        slow.free(1500);
        slow.created(1, 1600, 1520, 0);
        slow.started(1, 1600, 1520, 0);
        slow.resumed(1, 40L * 1000000000L);
        Start s = slow.focus("app.Main", 40L * 1000000000L, 77);
        assertEquals(40L * 1000000000L - 1000, s.ownNanos());
    }

    @Test
    void timeBehindAnotherWindowIsTheUsers() {
        process(100);
        show(1, 1600, 1520);
        starts.paused(1, 1700);
        starts.resumed(1, 21700);
        Start s = starts.focus("app.Main", 21800, 77);
        assertEquals(20000, s.awayNanos);
        assertEquals(800, s.ownNanos());
        assertEquals(20800, s.totalNanos());
    }

    @Test
    void aChangeOfTheConfigurationIsNoStart() {
        process(100);
        show(1, 1600, 1520);
        assertNotNull(starts.focus("app.Main", 1900, 77));
        starts.paused(1, 2000);
        starts.stopped(1, true);
        assertTrue(starts.isAnyStarted());
        starts.destroyed(1);
        show(2, 2010, 2000);
        assertFalse(starts.isOpen());
        hide(2, 3000);
        assertFalse(starts.isAnyStarted());
        starts.started(2, 4010, 4000, 90);
        assertTrue(starts.isOpen());
    }

    @Test
    void anActivityThatWasNotSeenToStopIsNoHotStart() {
        process(100);
        starts.started(1, 1600, 1520, 5);
        assertFalse(starts.isOpen());
    }

    @Test
    void activitiesFromBeforeAreNoStart() {
        // The runtime was started by an activity that is there.
        starts.application(1000, 50000);
        starts.paused(1, 60000);
        show(2, 60010, 60005);
        assertFalse(starts.isOpen());
        starts.stopped(1, false);
        hide(2, 61000);
        starts.started(1, 62000, 61990, 5);
        assertTrue(starts.isOpen());
    }

    @Test
    void randomEventsNeverMakeNegativeOrOverlappingTimes() {
        Random random = new Random(3);
        int ended = 0;
        for (int round = 0; round < 5000; round++) {
            Starts s = new Starts();
            long now = 1000;
            if (random.nextInt(4) > 0) {
                s.application(random.nextInt(3) * 800L, now);
            }
            s.importance(random.nextInt(4) * 100);
            long lastFocus = 0;
            List<Start> all = new ArrayList<Start>();
            for (int k = 0; k < 60; k++) {
                now += random.nextInt(random.nextInt(20) == 0 ? 2000000000 : 100);
                int a = random.nextInt(3);
                long message = random.nextInt(3) == 0 ? 0 : now - random.nextInt(50);
                // Messages do not overlap with what was before.
                message = message < lastFocus ? 0 : message;
                switch (random.nextInt(9)) {
                    case 0: s.created(a, now, message, k); break;
                    case 1: s.started(a, now, message, k); break;
                    case 2: s.resumed(a, now); break;
                    case 3: s.paused(a, now); break;
                    case 4: s.stopped(a, random.nextInt(5) == 0); break;
                    case 5: s.destroyed(a); break;
                    case 6: s.free(now); break;
                    default:
                        Start x = s.focus("app.Main", now, k);
                        if (x != null) {
                            all.add(x);
                            lastFocus = now;
                        }
                        break;
                }
            }
            long end = 0;
            for (Start x : all) {
                String what = "round " + round + ", " + x.type;
                assertTrue(x.processNanos() >= 0 && x.applicationStepNanos() >= 0 && x.activityNanos() >= 0, what);
                assertEquals(x.totalNanos(), x.processNanos() + x.applicationStepNanos() + x.activityNanos(), what);
                assertTrue(x.awayNanos >= 0 && x.ownNanos() >= 0, what + ": away " + x.awayNanos);
                assertTrue(x.beginNanos >= end, what + " begins before the one before has ended");
                assertTrue(x.type != Start.Type.COLD || x == all.get(0), what + " is not the first");
                assertTrue(x.firstRecord <= x.endRecord, what);
                end = x.focusNanos;
                ended++;
            }
        }
        assertTrue(ended > 2000, ended + " starts only");
    }
}
