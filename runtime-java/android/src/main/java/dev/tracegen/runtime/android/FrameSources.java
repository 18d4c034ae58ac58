package dev.tracegen.runtime.android;

import android.os.Handler;
import android.os.Looper;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.detector.Detector;
import dev.tracegen.runtime.detector.Frames;

/** What the detector {@code frames} sees on Android: Choreographer's frames. */
final class FrameSources extends Frames.Source {
    private final FrameTimes times;
    private final ActivityEvents activities;
    private final Handler main = new Handler(Looper.getMainLooper());

    /** The main thread's, as what the detector wants: it is switched by messages. */
    private volatile Frames wanted;

    private FrameSources(FrameTimes times, ActivityEvents activities) {
        this.times = times;
        this.activities = activities;
    }

    /**
     * Creates the detector {@code frames}.
     *
     * @param o {@code frames.dropped}: from how many frames at 60 Hz on dropped frames are an incident
     */
    static Detector create(RecorderOptions o, FrameTimes times, ActivityEvents activities) {
        return new Frames(new FrameSources(times, activities), times.records(), o.number("frames.dropped"));
    }

    @Override
    protected void start(Frames frames) {
        report(frames);
    }

    @Override
    protected void stop() {
        report(null);
    }

    private void report(final Frames frames) {
        wanted = frames;
        main.post(new Runnable() {
            @Override
            public void run() {
                if (wanted == frames) {
                    times.detector(frames);
                    activities.report(frames);
                }
            }
        });
    }
}
