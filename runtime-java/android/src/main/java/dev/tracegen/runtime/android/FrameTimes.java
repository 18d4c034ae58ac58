package dev.tracegen.runtime.android;

import android.os.Handler;
import android.os.Looper;
import android.view.Choreographer;
import dev.tracegen.runtime.FrameTiming;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.ThreadTrace;
import dev.tracegen.runtime.detector.BusyVsyncs;
import dev.tracegen.runtime.detector.Frames;

/**
 * Reports frames to the recorder: the time of the vsync, when work on the frame began, and when its message ended.
 *
 * <p>It requests no frame. When the Choreographer's own message begins, a frame is due, because the app has requested
 * it. A callback that is posted then is called by this very message, and the Choreographer need not request another
 * frame for it. So an app that draws nothing stays idle.
 *
 * <p>A frame is dropped if the main thread was busy at its vsync. While the main thread waits, the app has requested
 * nothing, and no frame is dropped, whatever time passes until the next one.
 */
final class FrameTimes extends DispatchListener implements Choreographer.FrameCallback, Frames.Source {
    /**
     * The Choreographer of some version might call its callbacks without a frame that was requested. Then the callback
     * would request the next frame, and so on. Every so many frames none is posted, which ends that.
     */
    static final int PAUSE = 64;

    private static final String FRAME_HANDLER =
            ">>>>> Dispatching to Handler (android.view.Choreographer$FrameHandler)";
    private static final String FRAME_CALLBACK = "} android.view.Choreographer$FrameDisplayEventReceiver@";

    /** Without vsyncs, on an emulator for instance, the message has no callback. */
    private static final String FRAME_MESSAGE = "} null: 0";

    private final ThreadTrace trace;
    private final Refresh refresh;

    /** Whether frames are written into the recording, also without a detector. */
    private final boolean record;
    private volatile boolean stopped;
    private volatile Frames detector;

    // Used by the main thread only.
    private boolean isFrame;
    private boolean posted;
    private int frames;
    private float hz;
    private long vsyncNanos;
    private long startNanos;
    private long lastVsyncNanos;
    private final BusyVsyncs busy = new BusyVsyncs();

    private final ActivityEvents activities;
    private final Handler main = new Handler(Looper.getMainLooper());

    /** What the detector wants last: the main thread carries it out. */
    private volatile Frames wanted;

    FrameTimes(Recorder recorder, Refresh refresh, ActivityEvents activities, boolean record) {
        this.record = record;
        this.activities = activities;
        this.trace = recorder.thread(Looper.getMainLooper().getThread());
        this.refresh = refresh;
    }

    @Override
    public void report(final Frames frames) {
        wanted = frames;
        main.post(new Runnable() {
            @Override
            public void run() {
                if (wanted == frames) {
                    detector(frames);
                    activities.reportFrames(frames);
                }
            }
        });
    }

    /** Reports to a detector from the next message on; to none if it is null. On the main thread. */
    private void detector(Frames value) {
        LooperMonitor monitor = LooperMonitor.existing(Looper.getMainLooper());
        detector = value;
        if (monitor != null && value != null && !stopped) {
            monitor.add(this);
        } else if (monitor != null && !record) {
            monitor.remove(this);
            isFrame = false;
            lastVsyncNanos = 0;
        }
    }

    /** Ends reporting. */
    void stop() {
        stopped = true;
    }

    @Override
    public void dispatchStart(Dispatch dispatch) {
        if (stopped) {
            return;
        }
        Frames d = detector;
        if (d != null) {
            d.busy();
        }
        isFrame = isFrame(dispatch.text());
        if (isFrame && !posted && ++frames % PAUSE != 0) {
            posted = true;
            Choreographer.getInstance().postFrameCallback(this);
        }
    }

    /** Reports whether a message is that of a frame, by the text that the Looper prints at its begin. */
    static boolean isFrame(String text) {
        return text != null && text.startsWith(FRAME_HANDLER)
                && (text.indexOf(FRAME_CALLBACK) > 0 || text.endsWith(FRAME_MESSAGE));
    }

    @Override
    public void doFrame(long frameTimeNanos) {
        posted = false;
        vsyncNanos = frameTimeNanos;
        startNanos = System.nanoTime();
    }

    @Override
    public void dispatchEnd(Dispatch dispatch) {
        if (stopped || detector == null && !record) {
            return;
        }
        boolean frame = isFrame;
        isFrame = false;
        if (frame) {
            float now = refresh.hz(dispatch.endNanos());
            if (now != hz) {
                // The vsyncs before cannot be counted by this rate.
                hz = now;
                lastVsyncNanos = 0;
            }
            if (startNanos == 0) {
                guessVsync(dispatch.beginNanos());
            }
        }
        boolean reported = startNanos != 0;
        if (reported) {
            report(dispatch.endNanos());
        }
        if (lastVsyncNanos != 0) {
            busy.add(dispatch.beginNanos(), dispatch.endNanos());
            if (reported) {
                busy.ownEnded();
            }
        }
    }

    /** The frame of the pause: it belongs to the last vsync before it began. */
    private void guessVsync(long begin) {
        if (lastVsyncNanos != 0 && hz > 0) {
            long vsync = lastVsyncNanos + (long) (Math.floor((begin - lastVsyncNanos) * (double) hz / 1e9) * 1e9 / hz);
            if (vsync > lastVsyncNanos) {
                vsyncNanos = vsync;
                startNanos = begin;
            }
        }
    }

    private void report(long end) {
        int dropped = lastVsyncNanos == 0 ? 0 : busy.before(vsyncNanos);
        FrameTiming timing = new FrameTiming(vsyncNanos, startNanos, end, dropped, hz);
        Frames d = detector;
        if (d != null) {
            d.frame(timing, lastVsyncNanos == 0 ? 0 : busy.others(vsyncNanos));
        }
        if (record) {
            trace.frame(timing);
        }
        lastVsyncNanos = hz > 0 ? vsyncNanos : 0;
        busy.reset(vsyncNanos, hz);
        startNanos = 0;
    }
}
