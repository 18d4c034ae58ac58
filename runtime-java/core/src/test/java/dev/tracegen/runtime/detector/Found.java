package dev.tracegen.runtime.detector;

import static org.junit.jupiter.api.Assertions.fail;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.IncidentListener;
import dev.tracegen.runtime.Recorder;
import java.util.ArrayList;
import java.util.List;

/** The incidents that were delivered. The recorder delivers them in the order in which they were reported. */
final class Found implements IncidentListener {
    private static final String LAST = "last";

    private final Recorder recorder;
    private final List<Incident> all = new ArrayList<Incident>();
    private int lasts;

    Found(Recorder recorder) {
        this.recorder = recorder;
        Recorder.setIncidentListener(this);
    }

    @Override
    public synchronized void incidentFound(Incident incident) {
        if (incident.detector.equals(LAST)) {
            lasts++;
            notifyAll();
        } else {
            all.add(incident);
        }
    }

    /** Returns all incidents of a kind that were reported so far. */
    List<Incident> of(String kind) throws Exception {
        int want;
        synchronized (this) {
            want = lasts + 1;
        }
        recorder.incident(LAST, LAST).report();
        long begin = System.nanoTime();
        synchronized (this) {
            while (lasts < want) {
                if (System.nanoTime() - begin > 120000000000L) {
                    fail("waited in vain for incidents");
                }
                wait(1000);
            }
            List<Incident> some = new ArrayList<Incident>();
            for (Incident i : all) {
                if (i.kind.equals(kind)) {
                    some.add(i);
                }
            }
            return some;
        }
    }

    /** Returns the only incident of a kind. */
    Incident one(String kind) throws Exception {
        List<Incident> some = of(kind);
        if (some.size() != 1) {
            fail(some.size() + " incidents " + kind);
        }
        return some.get(0);
    }
}
