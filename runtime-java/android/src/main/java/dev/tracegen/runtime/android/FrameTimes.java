package dev.tracegen.runtime.android;

import android.view.Choreographer;
import dev.tracegen.runtime.FrameTiming;
import dev.tracegen.runtime.ThreadTrace;

/**
 * Tells the recorder of frames: when each was due, when work on it began, and when its message ended. To hear of every
 * frame it has to ask for every frame, so that the display is never idle; it is off by default.
 */
final class FrameTimes extends DispatchListener implements Choreographer.FrameCallback {
    private final ThreadTrace trace;
    private final Choreographer choreographer;
    private final float refreshHz;
    private boolean running;
    private long vsyncNanos;
    private long startNanos;
    private long lastVsyncNanos;

    /**
     * On the looper's thread.
     *
     * @param refreshHz the display's rate, 0 if not known
     */
    FrameTimes(ThreadTrace trace, float refreshHz) {
        this.trace = trace;
        this.choreographer = Choreographer.getInstance();
        this.refreshHz = refreshHz;
    }

    void start() {
        running = true;
        choreographer.postFrameCallback(this);
    }

    void stop() {
        running = false;
        choreographer.removeFrameCallback(this);
    }

    @Override
    public void doFrame(long frameTimeNanos) {
        if (running) {
            vsyncNanos = frameTimeNanos;
            startNanos = System.nanoTime();
            choreographer.postFrameCallback(this);
        }
    }

    @Override
    public void dispatchEnd(Dispatch dispatch) {
        if (startNanos == 0) {
            return;
        }
        trace.frame(new FrameTiming(vsyncNanos, startNanos, dispatch.endNanos(), dropped(), refreshHz, null));
        lastVsyncNanos = vsyncNanos;
        startNanos = 0;
    }

    /** How many times the display would have shown a frame since the last one, and did not. */
    private int dropped() {
        if (lastVsyncNanos == 0 || refreshHz <= 0) {
            return 0;
        }
        return (int) Math.max(0, Math.round((vsyncNanos - lastVsyncNanos) * (double) refreshHz / 1e9) - 1);
    }
}
