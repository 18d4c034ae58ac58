package dev.tracegen.runtime.android;

import android.content.Context;
import android.os.Handler;
import android.os.Looper;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.detector.Detector;
import dev.tracegen.runtime.detector.Frames;

/** What the detector {@code frames} sees on Android: Choreographer's frames and {@code FrameMetrics}. */
final class FrameSources extends Frames.Source {
    private final FrameTimes times;
    private final ActivityEvents activities;
    private final Refresh refresh;
    private final Handler main = new Handler(Looper.getMainLooper());

    /** The main thread's, as what the detector wants: it is switched by messages. */
    private volatile FrameMetricsSource metrics;

    private FrameSources(Context context, FrameTimes times, ActivityEvents activities) {
        this.times = times;
        this.activities = activities;
        // One of its own: another thread reads it.
        this.refresh = Refresh.of(context);
    }

    /**
     * Creates the detector {@code frames}.
     *
     * @param o {@code frames.dropped}: from how many frames at 60 Hz on dropped frames are an incident
     */
    static Detector create(RecorderOptions o, Context context, FrameTimes times, ActivityEvents activities) {
        return new Frames(new FrameSources(context, times, activities), times.records(),
                o.number("frames.dropped"));
    }

    @Override
    protected int start(final Frames frames) {
        final FrameMetricsSource source = FrameMetricsSource.of(frames);
        metrics = source;
        final LooperMonitor monitor = LooperMonitor.existing(Looper.getMainLooper());
        boolean texts = monitor == null || !monitor.usesObserver();
        main.post(new Runnable() {
            @Override
            public void run() {
                if (metrics == source) {
                    times.detector(frames);
                    activities.report(frames, source);
                }
            }
        });
        boolean parts = source != null && FrameMetricsSource.hasVsyncs();
        return (texts || !parts ? Frames.Source.FRAMES : 0) | (parts ? Frames.Source.PARTS : 0);
    }

    @Override
    protected float refreshHz() {
        return refresh.hz(System.nanoTime());
    }

    @Override
    protected void stop() {
        final FrameMetricsSource source = metrics;
        metrics = null;
        main.post(new Runnable() {
            @Override
            public void run() {
                if (metrics == null) {
                    times.detector(null);
                    activities.report(null, null);
                }
                if (source != null) {
                    source.stop();
                }
            }
        });
    }
}
