package dev.tracegen.runtime.android;

import android.app.Activity;
import android.view.Window;
import dev.tracegen.runtime.ThreadTrace;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Marks the begin and the end of every input event, which reaches an app outside of any message. It stands between each
 * activity's window and its callback from when the activity is started, and passes everything on; a callback that is set
 * over it passes on to it or has none of its marks. A proxy, for the interface grows with Android.
 */
final class InputEvents {
    private final ThreadTrace trace;

    InputEvents(ThreadTrace trace) {
        this.trace = trace;
    }

    /** A callback that does what another does, and marks input events. */
    static Window.Callback wrap(Window.Callback callback, ThreadTrace trace) {
        return (Window.Callback) Proxy.newProxyInstance(InputEvents.class.getClassLoader(),
                new Class<?>[] {Window.Callback.class}, new InputCallback(callback, trace));
    }

    private static final class InputCallback implements InvocationHandler {
        private final Window.Callback callback;
        private final ThreadTrace trace;

        InputCallback(Window.Callback callback, ThreadTrace trace) {
            this.callback = callback;
            this.trace = trace;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] args) throws Throwable {
            boolean input = method.getName().startsWith("dispatch");
            if (input) {
                trace.inputEvent();
            }
            try {
                return method.invoke(callback, args);
            } catch (InvocationTargetException e) {
                // What the app throws is the app's.
                throw e.getCause();
            } finally {
                if (input) {
                    trace.inputEvent();
                }
            }
        }
    }

    /** Marks what comes in by an activity's window from now on. */
    void watch(Activity activity) {
        Window window = activity.getWindow();
        Window.Callback callback = window == null ? null : window.getCallback();
        if (callback == null || Proxy.isProxyClass(callback.getClass()) && Proxy.getInvocationHandler(callback) instanceof InputCallback) {
            return;
        }
        window.setCallback(wrap(callback, trace));
    }
}
