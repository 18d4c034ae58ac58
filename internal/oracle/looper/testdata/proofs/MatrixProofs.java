import android.app.Activity;
import android.os.Bundle;
import android.os.Looper;
import android.os.MessageQueue;
import android.view.Choreographer;
import android.view.Window;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.IncidentListener;
import dev.tracegen.runtime.MessageRecord;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.ThreadStack;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;

/**
 * Makes each kind of stall on the main looper while every detector is on, and says which of them saw it. The times are
 * shorter than the defaults, in proportion.
 *
 * <p>A detector has seen a stall if what it reports names the method of that stall, in a text or a stack. Only a sync
 * barrier has no method. A stall is repeated until all detectors have seen it that the documents say do, and
 * none was seen more often than not that they do not say. So a busy machine makes no difference.
 */
public final class MatrixProofs implements StallListener, IncidentListener {
    private static final long MOST_NANOS = 240000000000L;

    private final App app = new App(StartProofs.directory());

    /** The pairs that the documents say are seen: {@code stall x detector}. */
    private final Set<String> expected = new TreeSet<String>();

    /** The pairs that were seen, and after how many milliseconds at the earliest. */
    private final ConcurrentSkipListMap<String, Long> seen = new ConcurrentSkipListMap<String, Long>();

    /** How many stalls of its kind a pair was seen in. */
    private final ConcurrentSkipListMap<String, Integer> times = new ConcurrentSkipListMap<String, Integer>();

    /** The pairs that were seen in the stall that is made. */
    private final Set<String> now = new ConcurrentSkipListSet<String>();
    private volatile Kind running;
    private volatile long beganNanos;

    /** A kind of stall. */
    private abstract class Kind {
        final String name;
        final String method;

        /**
         * Creates a kind.
         *
         * @param method what detectors name; null if nothing can be named
         */
        Kind(String name, String method) {
            this.name = name;
            this.method = method;
        }

        /** Makes the stall, and returns when it is over. */
        abstract void make() throws Exception;
    }

    /** Sleeps on the main thread. Each kind of stall has its own method that calls it. */
    private static void busy(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class SlowMessage implements Runnable {
        @Override
        public void run() {
            busy(900);
        }
    }

    private static final class SlowIdleHandler implements MessageQueue.IdleHandler {
        @Override
        public boolean queueIdle() {
            busy(900);
            return false;
        }
    }

    /** An activity whose window handles an input event slowly. */
    private static final class SlowInput extends Objects.WindowActivity {
        void slowTouch() {
            busy(900);
        }
    }

    private static final class ShortMessage implements Runnable {
        @Override
        public void run() {
            busy(4);
        }
    }

    private static final class LateFrame implements Choreographer.FrameCallback {
        private final CountDownLatch drawn = new CountDownLatch(6);

        @Override
        public void doFrame(long due) {
            if (drawn.getCount() == 3) {
                busy(900);
            }
            drawn.countDown();
            if (drawn.getCount() > 0) {
                Choreographer.getInstance().postFrameCallback(this);
            }
        }
    }

    static final class SlowStart extends Objects.WindowActivity {
        void slowCreate() {
            busy(900);
        }
    }

    private List<Kind> kinds() {
        List<Kind> all = new ArrayList<Kind>();
        all.add(new Kind("a slow message", SlowMessage.class.getName()) {
            @Override
            void make() throws Exception {
                Bench.main.post(new SlowMessage());
                Bench.drain();
            }
        });
        all.add(new Kind("a slow IdleHandler", SlowIdleHandler.class.getName()) {
            @Override
            void make() throws Exception {
                Bench.onMain(new Runnable() {
                    @Override
                    public void run() {
                        Looper.myQueue().addIdleHandler(new SlowIdleHandler());
                    }
                });
                Bench.drain();
            }
        });
        all.add(new Kind("a slow input event", "slowTouch") {
            @Override
            void make() throws Exception {
                input();
            }
        });
        all.add(new Kind("many short messages", ShortMessage.class.getName()) {
            @Override
            void make() throws Exception {
                for (int k = 0; k < 300; k++) {
                    Bench.main.post(new ShortMessage());
                }
                Bench.drain();
            }
        });
        all.add(new Kind("a late frame", LateFrame.class.getName()) {
            @Override
            void make() throws Exception {
                final LateFrame frame = new LateFrame();
                Bench.onMain(new Runnable() {
                    @Override
                    public void run() {
                        Choreographer.getInstance().postFrameCallback(frame);
                    }
                });
                Bench.await(frame.drawn);
                Bench.drain();
            }
        });
        all.add(new Kind("a slow start of an activity", "slowCreate") {
            @Override
            void make() throws Exception {
                startActivity();
            }
        });
        // Behind all others: no message runs while it is there.
        all.add(new Kind("a sync barrier that was not removed", null) {
            @Override
            void make() throws Exception {
                MessageQueue queue = Bench.queue(Looper.getMainLooper());
                int token = (Integer) MessageQueue.class.getMethod("postSyncBarrier").invoke(queue);
                // Long enough for what the documents do not expect, too.
                while (System.nanoTime() - beganNanos < (allSeen(this) ? 6 : 60) * 1000000000L) {
                    Thread.sleep(20);
                }
                MessageQueue.class.getMethod("removeSyncBarrier", int.class).invoke(queue, token);
                Bench.drain();
            }
        });
        return all;
    }

    private SlowInput touched;

    /** Dispatches an input event through the callback of a window, outside of messages. */
    private void input() throws Exception {
        if (touched == null) {
            touched = Objects.bare(SlowInput.class);
            touched.window = (Window) Objects.bare(Class.forName("com.android.internal.policy.PhoneWindow"));
            final SlowInput activity = touched;
            touched.window.setCallback((Window.Callback) Proxy.newProxyInstance(MatrixProofs.class.getClassLoader(),
                    new Class<?>[] {Window.Callback.class}, new InvocationHandler() {
                        @Override
                        public Object invoke(Object proxy, Method m, Object[] args) {
                            if (m.getName().equals("dispatchTouchEvent")) {
                                activity.slowTouch();
                            }
                            return m.getReturnType() == boolean.class ? (Object) false : null;
                        }
                    }));
            Objects.lifecycle(app, "Started", activity);
            Objects.lifecycle(app, "Resumed", activity);
            Bench.drain();
        }
        // Outside of messages: runs of IdleHandlers are not watched in this session.
        final CountDownLatch done = new CountDownLatch(1);
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                Looper.myQueue().addIdleHandler(new MessageQueue.IdleHandler() {
                    @Override
                    public boolean queueIdle() {
                        touched.window.getCallback().dispatchTouchEvent(null);
                        done.countDown();
                        return false;
                    }
                });
            }
        });
        Bench.await(done);
    }

    /** Starts an activity: one message creates it slowly and starts it, and later it gets the focus. */
    private void startActivity() throws Exception {
        final SlowStart a = Objects.bare(SlowStart.class);
        final Method created = android.app.Application.class.getDeclaredMethod("dispatchActivityCreated", Activity.class,
                Bundle.class);
        created.setAccessible(true);
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                try {
                    a.slowCreate();
                    created.invoke(app, a, null);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        Objects.lifecycle(app, "Started", a);
        Objects.lifecycle(app, "Resumed", a);
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                AppMethodBeat.at(a, true);
            }
        });
        Objects.lifecycle(app, "Paused", a);
        Objects.lifecycle(app, "Stopped", a);
    }

    private void saw(Kind kind, String detector) {
        String pair = kind.name + " x " + detector;
        seen.putIfAbsent(pair, (System.nanoTime() - beganNanos) / 1000000L);
        now.add(pair);
    }

    private boolean allSeen(Kind kind) {
        for (String pair : expected) {
            if (pair.startsWith(kind.name + " x ") && !seen.containsKey(pair)) {
                return false;
            }
        }
        return true;
    }

    /** Reports whether a detector has seen more than half of the stalls that the documents say it does not see. */
    private boolean othersSeen(Kind kind, int stalls) {
        for (String pair : times.keySet()) {
            if (pair.startsWith(kind.name + " x ") && !expected.contains(pair) && 2 * times.get(pair) > stalls) {
                return true;
            }
        }
        return false;
    }

    private static boolean names(Kind kind, List<ThreadStack> stacks) {
        for (ThreadStack stack : stacks) {
            for (StackTraceElement e : stack.frames) {
                if (kind.method != null && (e.getClassName().equals(kind.method)
                        || e.getMethodName().equals(kind.method))) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    public void stallEnded(Stall s) {
        Kind kind = running;
        if (kind != null && kind.method != null && (s.description.contains(kind.method) || names(kind, s.samples))) {
            saw(kind, s.kind == MessageRecord.IDLE_HANDLER ? "idle handlers" : "messages");
        }
    }

    @Override
    public void incidentFound(Incident i) {
        Kind kind = running;
        if (kind == null || i.kind.equals("scene-frames")) {
            return;
        }
        // What began before is of another stall. A message's own time is in whole milliseconds.
        boolean named = kind.method == null ? i.beginNanos >= beganNanos - 5000000L : i.what.contains(kind.method)
                || names(kind, i.stacks) || i.kind.equals("startup") && kind.method.equals("slowCreate");
        if (named) {
            saw(kind, i.detector);
        }
    }

    public void whichDetectorSeesASlowInputEvent() throws Exception {
        if (Bench.device.api < 24) {
            // MotionEvent of that version calls a method of System that only ART has.
            Bench.seen("not measured", "a slow input event");
            return;
        }
        see(false);
    }

    public void whichDetectorSeesWhichStall() throws Exception {
        see(true);
    }

    private void see(boolean idleHandlers) throws Exception {
        Properties settings = new Properties();
        InputStream in = new FileInputStream(new File(System.getProperty("proofs.matrix")));
        try {
            settings.load(in);
        } finally {
            in.close();
        }
        for (String pair : settings.getProperty("expected").split(";")) {
            expected.add(pair.trim());
        }
        settings.remove("expected");
        settings.setProperty("idle-handlers", String.valueOf(idleHandlers));
        RecorderOptions config = new RecorderOptions().set("output", "none").apply(settings);
        Bench.equal(config.problems().size(), 0, "problems " + config.problems());
        Recorder.setStallListener(this);
        Recorder.setIncidentListener(this);
        Bench.check(TracegenRuntime.start(app, config), "not recording");
        Bench.settle();
        Recorder.current().foreground(true);
        Bench.drain();
        for (final String name : settings.getProperty("detectors").split(",")) {
            Bench.until(name + " is on or not available", new Bench.Condition() {
                @Override
                public boolean holds() {
                    String state = Recorder.current().detectorStates().get(name);
                    return state != null && !state.equals("off");
                }
            });
        }
        Bench.measured("detectors: " + Recorder.current().detectorStates());
        for (Kind kind : kinds()) {
            if (idleHandlers == "slowTouch".equals(kind.method)) {
                continue;
            }
            long end = System.nanoTime() + MOST_NANOS;
            int stalls = 0;
            for (; stalls < 2 || (!allSeen(kind) || othersSeen(kind, stalls)) && System.nanoTime() < end; stalls++) {
                now.clear();
                beganNanos = System.nanoTime();
                running = kind;
                kind.make();
                // What is reported after the stall has ended is delivered on another thread.
                Thread.sleep(450);
                for (String pair : now) {
                    times.put(pair, 1 + (times.containsKey(pair) ? times.get(pair) : 0));
                }
            }
            running = null;
            for (String pair : times.keySet()) {
                if (pair.startsWith(kind.name + " x ") && !expected.contains(pair) && 2 * times.get(pair) <= stalls) {
                    Bench.measured(pair + ": seen in " + times.get(pair) + " of " + stalls + " stalls");
                    seen.remove(pair);
                }
            }
        }
        for (String pair : seen.keySet()) {
            Bench.seen(pair, "yes");
            Bench.measured(pair + ": seen " + seen.get(pair) + " ms after the stall began");
        }
        TracegenRuntime.stop();
        Bench.ended();
        Recorder.setStallListener(null);
        Recorder.setIncidentListener(null);
    }
}
