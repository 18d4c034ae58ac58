package dev.tracegen.runtime.android;

import android.app.Activity;
import android.os.Handler;
import android.os.Looper;
import android.view.Window;
import dev.tracegen.runtime.ThreadTrace;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Reports the begin and the end of every input event to the recorder. Most input events reach an app outside of
 * messages; those that run within one are a part of it. A window's callback is wrapped in one that calls the original.
 * The wrapper is a Proxy, because the interface grows with Android.
 *
 * <p>Other code may wrap the callback before or after, and may replace it. If the window has another callback than a
 * wrapper when its activity is started, resumed or paused, that is wrapped too: an event that passes two wrappers is
 * one event. A window gets at most {@link #MAX_WRAPPERS}, so that two libraries do not wrap each other without end.
 *
 * <p>When recording stops, a wrapper that is the window's callback is removed. Another one stays in its chain, because
 * other code refers to it: it refers to no recorder and only calls the original, and the next recorder uses it again.
 */
final class InputEvents {
    private static final int MAX_WRAPPERS = 4;
    private static final Set<String> EVENTS = new HashSet<String>(Arrays.asList("dispatchKeyEvent",
            "dispatchKeyShortcutEvent", "dispatchTouchEvent", "dispatchTrackballEvent", "dispatchGenericMotionEvent"));

    /** The main thread's trace while input events are recorded, else null. */
    private static volatile ThreadTrace marked;

    /** How many wrappers each window has. Used by the main thread only. */
    private static final WeakHashMap<Window, Integer> WRAPPERS = new WeakHashMap<Window, Integer>();

    private InputEvents() {
    }

    /** Records input events from now on. */
    static void mark(ThreadTrace trace) {
        marked = trace;
    }

    /** Ends what {@link #mark} began, unless it was called for another trace since. */
    static void unmark(ThreadTrace trace) {
        if (marked != trace) {
            return;
        }
        marked = null;
        if (Looper.myLooper() == Looper.getMainLooper()) {
            restore();
            return;
        }
        new Handler(Looper.getMainLooper()).post(new Runnable() {
            @Override
            public void run() {
                restore();
            }
        });
    }

    /** Removes the wrappers that are in front, unless events are recorded again. On the main thread. */
    private static void restore() {
        if (marked != null) {
            return;
        }
        for (Map.Entry<Window, Integer> e : new ArrayList<Map.Entry<Window, Integer>>(WRAPPERS.entrySet())) {
            Window window = e.getKey();
            InputCallback front = window == null ? null : wrapper(window.getCallback());
            if (front != null) {
                window.setCallback(front.callback);
                WRAPPERS.put(window, e.getValue() - 1);
            }
        }
    }

    /** Returns the wrapper that a callback is; null if it is none. */
    private static InputCallback wrapper(Window.Callback callback) {
        Object handler = callback != null && Proxy.isProxyClass(callback.getClass())
                ? Proxy.getInvocationHandler(callback) : null;
        return handler instanceof InputCallback ? (InputCallback) handler : null;
    }

    /** Returns a callback that calls another one and reports input events. */
    static Window.Callback wrap(Window.Callback callback, String owner) {
        return (Window.Callback) Proxy.newProxyInstance(InputEvents.class.getClassLoader(),
                new Class<?>[] {Window.Callback.class}, new InputCallback(callback, owner));
    }

    private static final class InputCallback implements InvocationHandler {
        final Window.Callback callback;

        /** Names the owner of the window in the texts of events. */
        private final String owner;

        InputCallback(Window.Callback callback, String owner) {
            this.callback = callback;
            this.owner = owner;
        }

        @Override
        public Object invoke(Object self, Method method, Object[] args) throws Throwable {
            boolean event = EVENTS.contains(method.getName());
            ThreadTrace trace = event && Looper.myLooper() == Looper.getMainLooper() ? marked : null;
            long number = trace == null ? -1 : trace.inputBegin("Input " + method.getName() + ' ' + owner);
            try {
                return method.invoke(callback, args);
            } catch (InvocationTargetException e) {
                // Throw what the app threw.
                throw e.getCause();
            } finally {
                if (trace != null) {
                    trace.inputEnd(number);
                }
            }
        }
    }

    /** Wraps the callback of an activity's window, if input events are recorded. On the main thread. */
    static void watch(Activity activity) {
        Window window = marked == null ? null : activity.getWindow();
        if (window != null) {
            watch(window, activity.getClass().getName());
        }
    }

    /**
     * Wraps the callback of a window, if input events are recorded and it is no wrapper. On the main thread.
     *
     * @param owner a name for the texts of events; null for the class of the callback
     * @return false if its events are not recorded
     */
    static boolean watch(Window window, String owner) {
        Window.Callback callback = marked == null ? null : window.getCallback();
        if (callback == null || Looper.myLooper() != Looper.getMainLooper()) {
            return false;
        }
        Integer before = WRAPPERS.get(window);
        int wrappers = before == null ? 0 : before;
        if (wrapper(callback) == null && wrappers < MAX_WRAPPERS) {
            window.setCallback(wrap(callback, owner == null ? callback.getClass().getName() : owner));
            WRAPPERS.put(window, wrappers + 1);
        }
        return true;
    }
}
