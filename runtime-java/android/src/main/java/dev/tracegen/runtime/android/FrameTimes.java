package dev.tracegen.runtime.android;

import android.os.Handler;
import android.os.Looper;
import android.view.Choreographer;
import dev.tracegen.runtime.FrameTiming;
import dev.tracegen.runtime.ThreadTrace;

/**
 * Tells the recorder of frames: when each was due, when work on it began, and when its message ended. To hear of every
 * frame it has to ask for every frame, so that the display is never idle; it is off by default.
 */
final class FrameTimes extends DispatchListener implements Choreographer.FrameCallback, Runnable {
    private final ThreadTrace trace;
    private final float refreshHz;
    private volatile boolean stopped;
    private long vsyncNanos;
    private long startNanos;
    private long lastVsyncNanos;

    /**
     * Nothing yet.
     *
     * @param refreshHz the display's rate, 0 if not known
     */
    FrameTimes(ThreadTrace trace, float refreshHz) {
        this.trace = trace;
        this.refreshHz = refreshHz;
    }

    /** Asks for frames, from the main looper's thread: Choreographer has one for each. */
    void start() {
        new Handler(Looper.getMainLooper()).post(this);
    }

    /** Asks for no more. */
    void stop() {
        stopped = true;
    }

    @Override
    public void run() {
        if (!stopped) {
            Choreographer.getInstance().postFrameCallback(this);
        }
    }

    @Override
    public void doFrame(long frameTimeNanos) {
        if (!stopped) {
            vsyncNanos = frameTimeNanos;
            startNanos = System.nanoTime();
            Choreographer.getInstance().postFrameCallback(this);
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
