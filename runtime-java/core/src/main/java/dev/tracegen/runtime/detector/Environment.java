package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Recorder;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a detector may use while it is on. One for each time that a detector is switched on. */
public final class Environment {
    /** Where incidents are reported. */
    public final Recorder recorder;

    /** The Looper that is watched: that of the main thread. */
    public final LoopAccess loop;

    private final Detectors detectors;
    private final Detector detector;

    /** What waits for its time. Guarded by itself. */
    private final Set<Waiting> waiting = new HashSet<Waiting>();
    private volatile boolean ended;

    /** Work of the detector. It is cancelled when the detector is switched off, so that nothing of it stays. */
    private final class Waiting implements Runnable {
        private final Runnable work;
        private Schedule.Task task;

        Waiting(Runnable work) {
            this.work = work;
        }

        @Override
        public void run() {
            synchronized (waiting) {
                waiting.remove(this);
            }
            if (!ended) {
                detectors.guard(detector, work);
            }
        }
    }

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
     */
    public void at(long nanos, Runnable work) {
        Waiting w = new Waiting(work);
        // Within the lock, so that the work cannot run before its task is stored, and that end() sees it.
        synchronized (waiting) {
            if (!ended) {
                w.task = detectors.schedule.at(nanos, w);
                waiting.add(w);
            }
        }
    }

    /**
     * Begins an incident of this detector that concerns the Looper's thread.
     *
     * @param kind one of the kinds of trace/FORMAT.md
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

    /** Ends all work of the detector, and cancels what waits. */
    void end() {
        synchronized (waiting) {
            ended = true;
            for (Waiting w : waiting) {
                w.task.cancel();
            }
            waiting.clear();
        }
    }
}
