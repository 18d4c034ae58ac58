package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Recorder;
import org.jspecify.annotations.Nullable;

/** What a detector may use while it is on. One for each time that a detector is switched on. */
public final class Environment {
    /** Where incidents are reported. */
    public final Recorder recorder;

    /** The Looper that is watched: that of the main thread. */
    public final LoopAccess loop;

    private final Detectors detectors;
    private final Detector detector;
    private volatile boolean ended;

    Environment(Detectors detectors, Detector detector) {
        this.detectors = detectors;
        this.detector = detector;
        this.recorder = detectors.recorder;
        this.loop = detectors.loop;
    }

    /**
     * Returns the current time.
     *
     * @return nanoseconds, in {@link dev.tracegen.runtime.Platform#nanoTime}
     */
    public long nanoTime() {
        return detectors.schedule.nanoTime();
    }

    /**
     * Runs work on the detectors' thread, unless the detector is switched off before. What the work throws counts as a
     * failure of the detector; the fifth one switches it off.
     *
     * @param nanos the time; at once if it is past
     * @param work what runs
     * @return to cancel it
     */
    public Schedule.Task at(long nanos, final Runnable work) {
        return detectors.schedule.at(nanos, new Runnable() {
            @Override
            public void run() {
                if (!ended) {
                    detectors.guard(detector, work);
                }
            }
        });
    }

    /**
     * Begins an incident of this detector that concerns the Looper's thread.
     *
     * @param kind one of the kinds of trace/FORMAT.md
     * @return an object that collects what is known of it
     */
    public Incident.Builder incident(String kind) {
        return recorder.incident(detector.name(), kind).thread(loop.trace());
    }

    /**
     * Sets what the detector's state in the recording and in reports adds to "on". Nothing happens if the detector was
     * switched off. On the detectors' thread only.
     *
     * @param limit what keeps the detector from seeing all that it should see; null if it sees all
     */
    public void limit(@Nullable String limit) {
        if (!ended) {
            detectors.limit(detector, limit);
        }
    }

    /** Ends all work of the detector. */
    void end() {
        ended = true;
    }
}
