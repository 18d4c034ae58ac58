package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Recorder;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The detectors of a recorder. Each is switched on and off by its name, at any time and on any thread. A detector that
 * fails five times is switched off; the app goes on.
 */
public final class Detectors {
    /** The state of a detector that is on. A colon and text follow if it does not see all, see Environment.limit. */
    public static final String ON = "on";

    /** The state of a detector that is off. */
    public static final String OFF = "off";

    /** The names of all detectors. */
    public static final List<String> NAMES = Collections.unmodifiableList(Arrays.asList("sync-barrier", "watchdog",
            "anr", "sigquit", "native-touch", "frames", "startup"));

    private static final int TOO_MANY_FAILURES = 5;

    final Recorder recorder;
    final LoopAccess loop;
    final Schedule schedule;

    /** Used on the schedule's thread only, but for {@link #add}, which comes before. */
    private final Map<String, Entry> entries = new LinkedHashMap<String, Entry>();

    private static final class Entry {
        final Detector detector;
        Environment environment;
        String state = OFF;
        int failures;

        Entry(Detector detector) {
            this.detector = detector;
        }
    }

    /**
     * Creates an empty collection.
     *
     * @param recorder where incidents are reported
     * @param loop the Looper that is watched
     * @param schedule on whose thread the detectors run
     */
    public Detectors(Recorder recorder, LoopAccess loop, Schedule schedule) {
        this.recorder = recorder;
        this.loop = loop;
        this.schedule = schedule;
    }

    /**
     * Adds a detector that is off. To be called before {@link #set}.
     *
     * @param detector has another name than those that were added before
     */
    public void add(Detector detector) {
        entries.put(detector.name(), new Entry(detector));
    }

    /**
     * Switches a detector on or off. Returns at once. Nothing happens if it is so already, or if there is no detector
     * of that name.
     */
    public void set(final String name, final boolean on) {
        schedule.at(schedule.nanoTime(), new Runnable() {
            @Override
            public void run() {
                Entry e = entries.get(name);
                if (e != null && on) {
                    start(e);
                } else if (e != null) {
                    stop(e, OFF);
                }
                publish();
            }
        });
    }

    /**
     * Switches all detectors off, ends the schedule after that, and then runs work on its thread: what a detector
     * reports when it ends must reach a recorder that the work stops. Returns at once.
     */
    public void stop(final Runnable after) {
        schedule.at(schedule.nanoTime(), new Runnable() {
            @Override
            public void run() {
                try {
                    for (Entry e : entries.values()) {
                        stop(e, OFF);
                    }
                } finally {
                    schedule.stop();
                    after.run();
                }
            }
        });
    }

    private void start(Entry e) {
        if (e.environment != null) {
            return;
        }
        String why = e.detector.unavailable();
        if (why != null) {
            e.state = "not available: " + why;
            return;
        }
        e.failures = 0;
        e.state = ON;
        e.environment = new Environment(this, e.detector);
        try {
            e.detector.start(e.environment);
        } catch (Throwable failure) {
            stop(e, "off, because it failed: " + failure);
        }
    }

    private void stop(Entry e, String state) {
        if (e.environment == null) {
            return;
        }
        e.environment.end();
        e.environment = null;
        e.state = state;
        try {
            e.detector.stop();
        } catch (Throwable failure) {
            recorder.platform().log("the detector " + e.detector.name() + " cannot be switched off properly: "
                    + failure);
        }
    }

    /** Sets what follows "on" in the state of a detector that is on; nothing if null. */
    void limit(Detector detector, @Nullable String limit) {
        Entry e = entries.get(detector.name());
        String state = limit == null ? ON : ON + ": " + limit;
        if (e != null && e.environment != null && !state.equals(e.state)) {
            e.state = state;
            publish();
        }
    }

    /** Runs work of a detector, and switches the detector off if it fails too often. */
    void guard(Detector detector, Runnable work) {
        try {
            work.run();
        } catch (Throwable failure) {
            Entry e = entries.get(detector.name());
            if (e != null && ++e.failures == TOO_MANY_FAILURES) {
                recorder.platform().log("the detector " + detector.name() + " is switched off, because it has failed "
                        + TOO_MANY_FAILURES + " times, the last time by: " + failure);
                stop(e, "off, because it failed: " + failure);
                publish();
            }
        }
    }

    private void publish() {
        Map<String, String> states = new TreeMap<String, String>();
        for (Map.Entry<String, Entry> e : entries.entrySet()) {
            states.put(e.getKey(), e.getValue().state);
        }
        recorder.detectorStates(states);
    }
}
