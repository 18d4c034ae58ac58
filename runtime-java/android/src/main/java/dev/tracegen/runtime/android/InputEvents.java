package dev.tracegen.runtime.android;

import android.app.Activity;
import android.view.Window;
import dev.tracegen.runtime.ThreadTrace;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Updates the time of the records at the begin and the end of every input event. Input events reach an app outside of
 * messages. When an activity is started, its window's callback is wrapped in one that calls the original. If the app
 * sets another callback later that does not call the wrapper, its events are not seen. The wrapper is a Proxy,
 * because the interface grows with Android.
 */
final class InputEvents {
    private final ThreadTrace trace;

    InputEvents(ThreadTrace trace) {
        this.trace = trace;
    }

    /** Returns a callback that calls another one and reports input events. */
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
                // Throw what the app threw.
                throw e.getCause();
            } finally {
                if (input) {
                    trace.inputEvent();
                }
            }
        }
    }

    /** Wraps the callback of an activity's window. */
    void watch(Activity activity) {
        Window window = activity.getWindow();
        Window.Callback callback = window == null ? null : window.getCallback();
        if (callback == null || Proxy.isProxyClass(callback.getClass())
                && Proxy.getInvocationHandler(callback) instanceof InputCallback) {
            return;
        }
        window.setCallback(wrap(callback, trace));
    }
}
