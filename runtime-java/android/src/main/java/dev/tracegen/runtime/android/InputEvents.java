package dev.tracegen.runtime.android;

import android.app.Activity;
import android.view.Window;
import dev.tracegen.runtime.ThreadTrace;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.WeakHashMap;

/**
 * Updates the time of the records at the begin and the end of every input event. Input events reach an app outside of
 * messages. When an activity is started, its window's callback is wrapped in one that calls the original. If the app
 * sets another callback later that does not call the wrapper, its events are not seen. The wrapper is a Proxy,
 * because the interface grows with Android.
 *
 * <p>A wrapper stays in its window as long as the window lives, because other code may have wrapped it in turn. It
 * refers to no recorder: while none runs, it only calls the original, and the next recorder uses it again.
 */
final class InputEvents {
    /** The main thread's trace while input events are recorded, else null. */
    private static volatile ThreadTrace marked;

    /** The windows that have a wrapper. Used by the main thread only. */
    private static final WeakHashMap<Window, Boolean> WRAPPED = new WeakHashMap<Window, Boolean>();

    private InputEvents() {
    }

    /** Records input events from now on. */
    static void mark(ThreadTrace trace) {
        marked = trace;
    }

    /** Ends what {@link #mark} began, unless it was called for another trace since. */
    static void unmark(ThreadTrace trace) {
        if (marked == trace) {
            marked = null;
        }
    }

    /** Returns a callback that calls another one and reports input events. */
    static Window.Callback wrap(Window.Callback callback) {
        return (Window.Callback) Proxy.newProxyInstance(InputEvents.class.getClassLoader(),
                new Class<?>[] {Window.Callback.class}, new InputCallback(callback));
    }

    private static final class InputCallback implements InvocationHandler {
        private final Window.Callback callback;

        InputCallback(Window.Callback callback) {
            this.callback = callback;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] args) throws Throwable {
            ThreadTrace trace = method.getName().startsWith("dispatch") ? marked : null;
            if (trace != null) {
                trace.inputEvent();
            }
            try {
                return method.invoke(callback, args);
            } catch (InvocationTargetException e) {
                // Throw what the app threw.
                throw e.getCause();
            } finally {
                if (trace != null) {
                    trace.inputEvent();
                }
            }
        }
    }

    /** Wraps the callback of an activity's window, once, if input events are recorded. On the main thread. */
    static void watch(Activity activity) {
        Window window = marked == null ? null : activity.getWindow();
        Window.Callback callback = window == null ? null : window.getCallback();
        if (callback != null && !WRAPPED.containsKey(window)) {
            WRAPPED.put(window, true);
            window.setCallback(wrap(callback));
        }
    }
}
