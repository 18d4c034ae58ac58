package dev.tracegen.runtime.android;

import android.app.Activity;
import android.os.Build;
import android.os.Handler;
import android.os.HandlerThread;
import android.view.Window;
import dev.tracegen.runtime.FrameTiming;
import dev.tracegen.runtime.detector.FrameParts;
import dev.tracegen.runtime.detector.Frames;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Android's {@code FrameMetrics}, from Android 7 on: the times of the parts of each frame of each resumed activity's
 * window. They come on a thread of their own. All that is called by reflection is public API; the library is compiled
 * against an older version.
 */
final class FrameMetricsSource implements InvocationHandler {
    private static final int FIRST_DRAW = 9;
    private static final int INTENDED_VSYNC = 10;
    private static final int VSYNC = 11;
    private static final int GPU = 12;

    /** Since this version a frame has the times of its vsyncs, so that it can be joined with Choreographer's. */
    private static final int HAS_VSYNCS = 26;
    private static final int HAS_GPU = 31;

    private final Frames frames;
    private final Class<?> listenerType;
    private final Method addListener;
    private final Method removeListener;
    private final Method metric;
    private final Object listener;
    private final HandlerThread thread = new HandlerThread("tracegen-frames");
    private final Handler handler;

    private FrameMetricsSource(Frames frames) throws Exception {
        this.frames = frames;
        listenerType = Class.forName("android.view.Window$OnFrameMetricsAvailableListener");
        addListener = Window.class.getMethod("addOnFrameMetricsAvailableListener", listenerType, Handler.class);
        removeListener = Window.class.getMethod("removeOnFrameMetricsAvailableListener", listenerType);
        metric = Class.forName("android.view.FrameMetrics").getMethod("getMetric", int.class);
        listener = Proxy.newProxyInstance(FrameMetricsSource.class.getClassLoader(), new Class<?>[] {listenerType},
                this);
        thread.start();
        handler = new Handler(thread.getLooper());
    }

    /** Creates a source with a thread of its own. Returns null before Android 7. */
    static FrameMetricsSource of(Frames frames) {
        try {
            return Build.VERSION.SDK_INT < 24 ? null : new FrameMetricsSource(frames);
        } catch (Throwable e) {
            return null;
        }
    }

    /** Reports whether frames have the times of their vsyncs. */
    static boolean hasVsyncs() {
        return Build.VERSION.SDK_INT >= HAS_VSYNCS;
    }

    /** Begins to report the frames of an activity's window. On the main thread. */
    void add(Activity activity) {
        try {
            Window w = activity.getWindow();
            if (w != null) {
                addListener.invoke(w, listener, handler);
            }
        } catch (Throwable e) {
            // The window is not drawn by the hardware: there are no metrics.
        }
    }

    /** Ends reporting the frames of an activity's window. On the main thread. */
    void remove(Activity activity) {
        try {
            Window w = activity.getWindow();
            if (w != null) {
                removeListener.invoke(w, listener);
            }
        } catch (Throwable e) {
            // It was not added.
        }
    }

    /** Ends the thread. */
    void stop() {
        thread.quit();
    }

    @Override
    public Object invoke(Object self, Method method, Object[] args) throws Throwable {
        if (method.getDeclaringClass() == Object.class) {
            return Reflection.objectMethod(self, method.getName(), args);
        }
        try {
            available(args[1], (Integer) args[2]);
        } catch (Throwable e) {
            // The app's process must survive. The frame has no parts.
        }
        return null;
    }

    private void available(Object metrics, int lost) throws Exception {
        long[] durations = new long[FrameTiming.DURATIONS];
        for (int k = 0; k < FrameParts.GPU; k++) {
            durations[k] = get(metrics, k);
        }
        durations[FrameParts.GPU] = Build.VERSION.SDK_INT >= HAS_GPU ? get(metrics, GPU) : -1;
        boolean vsyncs = hasVsyncs();
        frames.parts(new FrameParts(vsyncs ? get(metrics, INTENDED_VSYNC) : 0, vsyncs ? get(metrics, VSYNC) : 0,
                get(metrics, FIRST_DRAW) == 1, lost, durations));
    }

    private long get(Object metrics, int id) throws Exception {
        return (Long) metric.invoke(metrics, id);
    }
}
