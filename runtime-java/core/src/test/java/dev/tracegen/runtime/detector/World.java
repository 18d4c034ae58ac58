package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Await;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A recorder, a Looper and detectors on a virtual clock, and the incidents that were reported. */
final class World {
    static final long SECOND = 1000000000L;
    static final long MILLI = 1000000L;

    final VirtualSchedule schedule = new VirtualSchedule();
    final Recorder recorder;
    final VirtualLoop loop;
    final Detectors detectors;

    /** The last report of each incident, by its number. */
    private final Map<Long, Incident> incidents =
            Collections.synchronizedMap(new LinkedHashMap<Long, Incident>());

    private int lasts;

    World() {
        this(new RecorderOptions());
    }

    World(RecorderOptions options) {
        recorder = Recorder.start(options.platform(schedule.platform()));
        loop = new VirtualLoop(schedule, recorder);
        detectors = new Detectors(recorder, loop, schedule);
        Recorder.setIncidentListener(i -> incidents.put(i.number, i));
    }

    /** Switches detectors on. */
    void on(Detector... all) {
        for (Detector d : all) {
            detectors.add(d);
        }
        for (Detector d : all) {
            detectors.set(d.name(), true);
        }
        schedule.advance(0);
    }

    /** Returns properties. */
    static RecorderOptions properties(String... pairs) {
        RecorderOptions p = new RecorderOptions();
        for (int k = 0; k < pairs.length; k += 2) {
            p.set(pairs[k], pairs[k + 1]);
        }
        return p;
    }

    /** Returns the incidents of a detector that were reported so far, in the order in which they were found. */
    List<Incident> delivered(String detector) throws Exception {
        lasts++;
        // The recorder delivers what was reported before first.
        recorder.incident("last", "last").report();
        Await.until("the last incident is delivered", () -> of("last").size() == lasts);
        return of(detector);
    }

    private List<Incident> of(String detector) {
        List<Incident> some = new ArrayList<Incident>();
        synchronized (incidents) {
            for (Incident i : incidents.values()) {
                if (i.detector.equals(detector)) {
                    some.add(i);
                }
            }
        }
        return some;
    }

    /** Stops everything, and returns the incidents in the order in which they were found. */
    List<Incident> stop() throws Exception {
        Await.stop(recorder);
        Recorder.setIncidentListener(null);
        return new ArrayList<Incident>(incidents.values());
    }

    /** Returns milliseconds since the clock began. */
    static long millis(long nanos) {
        return (nanos - VirtualSchedule.BEGIN_NANOS) / MILLI;
    }
}
