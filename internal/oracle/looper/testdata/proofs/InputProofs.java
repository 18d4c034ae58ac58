import android.app.Activity;
import android.os.Looper;
import android.os.MessageQueue;
import android.view.Window;
import dev.tracegen.runtime.EachMessage;
import dev.tracegen.runtime.MessageRecord;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Input events of real windows as segments and stalls, and other code that sets window callbacks. */
public final class InputProofs implements StallListener {
    private static final String TEXT = "Input dispatchKeyEvent " + Objects.WindowActivity.class.getName();

    private final App app = new App(StartProofs.directory());
    private final BlockingQueue<Stall> stalls = new ArrayBlockingQueue<Stall>(100);

    @Override
    public void stallEnded(Stall stall) {
        stalls.add(stall);
    }

    /** A callback that takes some time, or passes calls on to another one. */
    private static final class Callback implements InvocationHandler {
        volatile int calls;
        volatile int millis;
        final Window.Callback next;
        final Window.Callback proxy;

        Callback(Window.Callback next) {
            this.next = next;
            this.proxy = (Window.Callback) Proxy.newProxyInstance(InputProofs.class.getClassLoader(),
                    new Class<?>[] {Window.Callback.class}, this);
        }

        @Override
        public Object invoke(Object self, Method method, Object[] args) throws Throwable {
            if (method.getDeclaringClass() == Object.class) {
                return method.getName().equals("hashCode") ? (Object) 1 : method.getName().equals("equals")
                        ? (Object) (self == args[0]) : "callback";
            }
            calls++;
            Thread.sleep(millis);
            try {
                return next == null ? (Object) true : method.invoke(next, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    /** Reports whether a Window.Callback can be made here: before Android 9, MotionEvent needs ART's own arraycopy. */
    private static boolean hasEvents() {
        if (Bench.device.api < 28) {
            Bench.measured("input events: not tried, MotionEvent of this version wants ART's own arraycopy");
        }
        return Bench.device.api >= 28;
    }

    private Objects.WindowActivity activity;
    private Callback apps;

    private void start() throws Exception {
        RecorderOptions config = new RecorderOptions().set("output", "none").set("input-events", "true");
        config.slowMillis(200).set("slow-input", "100");
        config.set("idle-handlers", "false");
        Recorder.setStallListener(this);
        Bench.check(TracegenRuntime.start(app, EachMessage.in(config)), "not recording");
        Bench.settle();
        activity = Objects.activity();
        apps = new Callback(null);
        setCallback(apps.proxy);
        Objects.lifecycle(app, "Started", activity);
    }

    private static void stop() throws Exception {
        TracegenRuntime.stop();
        Recorder.setStallListener(null);
        Bench.ended();
    }

    private void setCallback(final Window.Callback callback) throws Exception {
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                activity.window.setCallback(callback);
            }
        });
    }

    /** Passes an event to the window's callback outside of messages, as the native part of the queue does. */
    private void event() throws Exception {
        final CountDownLatch done = new CountDownLatch(1);
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                Looper.myQueue().addIdleHandler(new MessageQueue.IdleHandler() {
                    @Override
                    public boolean queueIdle() {
                        activity.window.getCallback().dispatchKeyEvent(null);
                        done.countDown();
                        return false;
                    }
                });
            }
        });
        Bench.await(done);
    }

    private static int recorded() {
        int n = 0;
        for (MessageRecord m : Recorder.current().thread(Looper.getMainLooper().getThread()).history()) {
            n += m.kind == MessageRecord.INPUT && m.description.equals(TEXT) ? 1 : 0;
        }
        return n;
    }

    public void aSlowInputEventIsAStall() throws Exception {
        if (!hasEvents()) {
            return;
        }
        start();
        try {
            apps.millis = 150;
            event();
            for (;;) {
                Stall s = stalls.poll(2, TimeUnit.MINUTES);
                Bench.check(s != null, "no stall");
                if (s.description.equals(TEXT)) {
                    Bench.check(s.wallNanos >= 150000000L, "it lasted " + s.wallNanos);
                    break;
                }
            }
            Bench.equal(recorded(), 1, "input events");
            Bench.seen("an input event of 700 ms", "yes");
            // Within a message it is a part of that.
            Bench.onMain(new Runnable() {
                @Override
                public void run() {
                    activity.window.getCallback().dispatchKeyEvent(null);
                }
            });
            Bench.drain();
            Bench.equal(recorded(), 1, "input events, after one within a message");
        } finally {
            stop();
        }
        Bench.check(activity.window.getCallback() == apps.proxy, "after the end the callback is another");
    }

    /** Other code wraps before and after, and passes events on. */
    public void wrappersInBothOrdersSurvive() throws Exception {
        if (!hasEvents()) {
            return;
        }
        start();
        try {
            Callback after = new Callback(activity.window.getCallback());
            setCallback(after.proxy);
            event();
            Bench.equal(recorded(), 1, "events");
            // Every start of an activity is a chance to wrap again: chains must not grow.
            for (int k = 0; k < 20; k++) {
                Objects.lifecycle(app, "Resumed", activity);
                event();
                if (activity.window.getCallback() != after.proxy && k > 4) {
                    after = new Callback(activity.window.getCallback());
                    setCallback(after.proxy);
                }
            }
            Bench.equal(recorded(), 21, "events, each once");
            Bench.equal(apps.calls, 21, "events of the app");
            int depth = depth();
            Bench.check(depth <= 12, "the chain has " + depth + " callbacks");
        } finally {
            stop();
        }
        int calls = apps.calls;
        event();
        Bench.equal(apps.calls, calls + 1, "events of the app after the end");
    }

    private int depth() throws Exception {
        int depth = 0;
        for (Object c = activity.window.getCallback(); c != null; depth++) {
            InvocationHandler h = Proxy.getInvocationHandler(c);
            c = h instanceof Callback ? ((Callback) h).next : Bench.field(h, h.getClass(), "callback");
        }
        return depth;
    }

    /** Other code replaces the callback and does not call ours. */
    public void aReplacedCallbackIsNoticed() throws Exception {
        if (!hasEvents()) {
            return;
        }
        start();
        try {
            event();
            Bench.equal(recorded(), 1, "events");
            Callback thief = new Callback(apps.proxy);
            setCallback(thief.proxy);
            event();
            Bench.equal(recorded(), 1, "events that are not seen");
            Objects.lifecycle(app, "Resumed", activity);
            event();
            Bench.equal(recorded(), 2, "events after ours is back");
            Bench.equal(thief.calls, 2, "events of the other code");
            Bench.equal(apps.calls, 3, "events of the app");
        } finally {
            stop();
        }
        Bench.check(activity.window.getCallback() != apps.proxy, "the other code's callback was removed");
        event();
        Bench.equal(apps.calls, 4, "events of the app after the end");
    }

    public void aWindowThatIsNotFoundCanBeWatched() throws Exception {
        if (!hasEvents()) {
            return;
        }
        start();
        try {
            final Objects.WindowActivity dialog = Objects.activity();
            final Callback callback = new Callback(null);
            final boolean[] watched = new boolean[2];
            Bench.onMain(new Runnable() {
                @Override
                public void run() {
                    watched[0] = TracegenRuntime.watchWindow(dialog.window);
                    dialog.window.setCallback(callback.proxy);
                    watched[1] = TracegenRuntime.watchWindow(dialog.window);
                }
            });
            Bench.check(!watched[0] && watched[1], "watched " + watched[0] + " " + watched[1]);
            activity = dialog;
            event();
            Bench.equal(callback.calls, 1, "events");
            Bench.check(dialog.window.getCallback() != callback.proxy, "not wrapped");
        } finally {
            stop();
        }
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                Bench.check(!TracegenRuntime.watchWindow(activity.window), "watched without a recorder");
            }
        });
    }
}
