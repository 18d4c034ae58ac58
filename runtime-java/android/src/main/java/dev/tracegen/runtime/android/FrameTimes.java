package dev.tracegen.runtime.android;

import android.os.Handler;
import android.os.Looper;
import android.view.Choreographer;
import dev.tracegen.runtime.FrameTiming;
import dev.tracegen.runtime.ThreadTrace;

/**
 * Reports frames to the recorder: the time of the vsync, when work on the frame began, and when its message ended. It
 * must request every frame from the Choreographer, so the display is never idle. It is off by default.
 */
final class FrameTimes extends DispatchListener implements Choreographer.FrameCallback, Runnable {
    private final ThreadTrace trace;
    private final float refreshHz;
    private volatile boolean stopped;
    private long vsyncNanos;
    private long startNanos;
    private long lastVsyncNanos;

    /**
     * Creates the object; {@link #start} requests the first frame.
     *
     * @param refreshHz refresh rate of the display in Hz, 0 if unknown
     */
    FrameTimes(ThreadTrace trace, float refreshHz) {
        this.trace = trace;
        this.refreshHz = refreshHz;
    }

    /**
     * Requests frames. The Choreographer must be that of the main thread, so this posts one message to the main
     * Looper.
     */
    void start() {
        new Handler(Looper.getMainLooper()).post(this);
    }

    /** Stops requesting frames. */
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

    /** Returns how many vsyncs since the last frame had no frame. */
    private int dropped() {
        if (lastVsyncNanos == 0 || refreshHz <= 0) {
            return 0;
        }
        return (int) Math.max(0, Math.round((vsyncNanos - lastVsyncNanos) * (double) refreshHz / 1e9) - 1);
    }
}
