package dev.tracegen.runtime.android;

import android.app.Activity;
import android.os.Handler;
import android.os.Looper;
import android.util.Log;
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
 * <p>Other code may wrap the callback before or after, and may replace it. If the window has another callback than the
 * wrapper, that may or may not call the wrapper. This is found out by one more wrapper in front: at the next event, the
 * old one is called or not. If it is, the other code passes events on, and the window is left as it is from then on. If
 * it is not, the old wrapper was lost, and the new one takes its place. An event that passes two wrappers is one event.
 * A window gets at most {@link #MAX_WRAPPERS}, so that two libraries do not wrap each other without end.
 *
 * <p>When recording stops, a wrapper that is the window's callback is removed. Another one stays in its chain, because
 * other code refers to it: it refers to no recorder and only calls the original, and the next recorder uses it again.
 */
final class InputEvents {
    private static final int MAX_WRAPPERS = 4;

    /** How often windows are searched, at most. */
    private static final long SEARCH_NANOS = 500000000L;

    private static final Set<String> EVENTS = new HashSet<String>(Arrays.asList("dispatchKeyEvent",
            "dispatchKeyShortcutEvent", "dispatchTouchEvent", "dispatchTrackballEvent", "dispatchGenericMotionEvent"));

    /** The main thread's trace while input events are recorded, else null. */
    private static volatile ThreadTrace marked;

    /** The windows that have a wrapper. Used by the main thread only. */
    private static final WeakHashMap<Window, Chain> CHAINS = new WeakHashMap<Window, Chain>();

    /** How often a wrapper was lost. */
    private static volatile int lost;

    private InputEvents() {
    }

    /** The wrappers of one window. Used by the main thread only. */
    private static final class Chain {
        /** Names the owner of the window in the texts of events. */
        final String owner;

        /** The newest wrapper, in front of all others. */
        InputCallback front;
        int wrappers;

        /** Whether it is known that the code that wrapped the callback calls the wrapper. */
        boolean passedOn;

        Chain(String owner) {
            this.owner = owner;
        }
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

    /** Returns how often other code had replaced a wrapper without calling it. */
    static int lost() {
        return lost;
    }

    /** Removes the wrappers that are in front, unless events are recorded again. On the main thread. */
    private static void restore() {
        if (marked != null) {
            return;
        }
        for (Map.Entry<Window, Chain> e : new ArrayList<Map.Entry<Window, Chain>>(CHAINS.entrySet())) {
            Window window = e.getKey();
            Chain chain = e.getValue();
            if (window != null && window.getCallback() == chain.front.proxy) {
                window.setCallback(chain.front.callback);
                CHAINS.remove(window);
            }
        }
    }

    /** Returns a callback that calls another one and reports input events. */
    static Window.Callback wrap(Window.Callback callback) {
        return new InputCallback(callback, new Chain(callback.getClass().getName())).proxy;
    }

    private static final class InputCallback implements InvocationHandler {
        final Window.Callback callback;
        final Window.Callback proxy;
        private final Chain chain;

        /** The wrapper that was in front before; null for none, and when it is known whether it is called. */
        InputCallback before;
        private boolean beforeCalled;

        InputCallback(Window.Callback callback, Chain chain) {
            this.callback = callback;
            this.chain = chain;
            this.proxy = (Window.Callback) Proxy.newProxyInstance(InputEvents.class.getClassLoader(),
                    new Class<?>[] {Window.Callback.class}, this);
        }

        @Override
        public Object invoke(Object self, Method method, Object[] args) throws Throwable {
            boolean event = EVENTS.contains(method.getName());
            ThreadTrace trace = event && Looper.myLooper() == Looper.getMainLooper() ? marked : null;
            long number = -1;
            if (trace != null) {
                number = trace.inputBegin("Input " + method.getName() + ' ' + chain.owner);
                called();
            }
            boolean whole = false;
            try {
                Object result = method.invoke(callback, args);
                whole = true;
                return result;
            } catch (InvocationTargetException e) {
                // Throw what the app threw.
                throw e.getCause();
            } finally {
                if (trace != null) {
                    trace.inputEnd(number);
                    if (whole) {
                        ended();
                    }
                }
            }
        }

        private void called() {
            InputCallback front = chain.front;
            if (front != null && front.before == this) {
                front.beforeCalled = true;
            }
        }

        /** An event has passed through: now it is known whether the wrapper before is called. */
        private void ended() {
            if (before == null) {
                return;
            }
            if (beforeCalled) {
                chain.passedOn = true;
            } else {
                lost++;
                Log.w(TracegenRuntime.TAG, "other code had replaced the Window.Callback of " + chain.owner
                        + " and did not call the one of the recorder, so that input events were not seen; they are"
                        + " seen again");
            }
            before = null;
        }
    }

    /** Returns a listener that finds the windows of dialogs when the queue is idle. Needs hidden members. */
    static DispatchListener windowSearch() {
        return new DispatchListener() {
            private long last;

            @Override
            public void queueIdle() {
                long now = System.nanoTime();
                if (marked == null || last != 0 && now - last < SEARCH_NANOS) {
                    return;
                }
                last = now;
                for (Window window : RootViews.windows()) {
                    watch(window, null);
                }
            }
        };
    }

    /** Wraps the callback of an activity's window, once, if input events are recorded. On the main thread. */
    static void watch(Activity activity) {
        Window window = marked == null ? null : activity.getWindow();
        if (window != null) {
            watch(window, activity.getClass().getName());
        }
    }

    /**
     * Wraps the callback of a window, if input events are recorded and it is not wrapped. On the main thread.
     *
     * @param owner a name for the texts of events; null for the class of the callback
     * @return false if its events are not recorded
     */
    static boolean watch(Window window, String owner) {
        Window.Callback callback = marked == null ? null : window.getCallback();
        if (callback == null || Looper.myLooper() != Looper.getMainLooper()) {
            return false;
        }
        Chain chain = CHAINS.get(window);
        if (chain == null) {
            chain = new Chain(owner == null ? callback.getClass().getName() : owner);
            CHAINS.put(window, chain);
        }
        InputCallback front = chain.front;
        boolean inFront = front != null && callback == front.proxy;
        // While it is not known whether the wrapper before the last one is called, no other one is added.
        if (!inFront && !chain.passedOn && (front == null || front.before == null)
                && chain.wrappers < MAX_WRAPPERS) {
            InputCallback next = new InputCallback(callback, chain);
            next.before = front;
            chain.front = next;
            chain.wrappers++;
            window.setCallback(next.proxy);
        }
        return true;
    }
}
