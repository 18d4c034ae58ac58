package dev.tracegen.runtime.detector;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.lang.reflect.Field;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the detector of starts reports. */
class StartupTest {
    private static final long MILLI = 1000000L;

    private final VirtualSchedule schedule = new VirtualSchedule();
    private final Recorder recorder = Recorder.start(new RecorderOptions().platform(schedule.platform()));
    private final VirtualLoop loop = new VirtualLoop(schedule, recorder);
    private final Found found = new Found(recorder);
    private final Launches source = new Launches();
    private final Startup startup = new Startup(source, 10000, 4000, 1500);
    private final Detectors detectors = new Detectors(recorder, loop, schedule);

    @AfterEach
    void end() {
        Recorder.setIncidentListener(null);
        recorder.stop();
    }

    private void on() {
        detectors.add(startup);
        detectors.set("startup", true);
        schedule.advance(0);
    }

    /** A cold start whose steps take 200, 300 and so many milliseconds. */
    private Start cold(long millis) {
        Starts s = new Starts();
        long begin = schedule.nanoTime();
        s.application(begin, begin + 200 * MILLI);
        s.created(1, begin + 510 * MILLI, begin + 500 * MILLI, 9);
        return s.focus("app.Main", begin + (500 + millis) * MILLI, loop.trace().nextRecord());
    }

    private void report(Start s) {
        source.startup.ended(s);
        schedule.advance(0);
    }

    @Test
    void everyStartIsReportedWithItsSteps() throws Exception {
        on();
        report(cold(400));
        Incident i = found.one("startup");
        assertEquals("{type=cold, slow=false, limit-millis=10000, process-millis=200, application-millis=300, "
                + "first-activity-millis=400}", i.facts.toString());
        assertEquals("app.Main", i.what);
        assertEquals("app.Main", i.scene);
        assertEquals(900 * MILLI, i.wallNanos());
    }

    @Test
    void aSlowStartHasItsRecords() throws Exception {
        on();
        for (int k = 0; k < 10; k++) {
            AppMethodBeat.i(5);
            AppMethodBeat.o(5);
        }
        report(cold(9499));
        report(cold(9500));
        List<Incident> all = found.of("startup");
        assertEquals("false", all.get(0).facts.get("slow"));
        assertEquals(0, records(all.get(0)));
        assertEquals("true", all.get(1).facts.get("slow"));
        assertEquals(20, records(all.get(1)));
    }

    private static long records(Incident i) throws Exception {
        Field first = Incident.class.getDeclaredField("firstRecord");
        Field end = Incident.class.getDeclaredField("endRecord");
        first.setAccessible(true);
        end.setAccessible(true);
        return end.getLong(i) - first.getLong(i);
    }

    @Test
    void nothingIsReportedWhileADebuggerIsAttachedOrWhenSwitchedOff() throws Exception {
        on();
        Startup s = source.startup;
        schedule.debugger(true);
        report(cold(400));
        schedule.debugger(false);
        detectors.set("startup", false);
        schedule.advance(0);
        s.ended(cold(400));
        schedule.advance(0);
        assertEquals(0, found.of("startup").size());
    }
}
