import android.view.Choreographer;
import dev.tracegen.device.Device;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.util.concurrent.CountDownLatch;

/** Which frames the runtime records, and that it requests none. */
public final class VsyncProofs {
    private final App app = new App(StartProofs.directory());

    /** Draws some frames, as an animation does, and no more. */
    private static final class Drawing implements Choreographer.FrameCallback, Runnable {
        final CountDownLatch done = new CountDownLatch(1);
        private int left;

        Drawing(int frames) {
            left = frames;
        }

        @Override
        public void run() {
            Choreographer.getInstance().postFrameCallback(this);
        }

        @Override
        public void doFrame(long due) {
            if (--left > 0) {
                Choreographer.getInstance().postFrameCallback(this);
            } else {
                done.countDown();
            }
        }
    }

    private static void draw(int frames) throws Exception {
        Drawing d = new Drawing(frames);
        Bench.main.post(d);
        Bench.await(d.done);
        Bench.drain();
    }

    private void start(String name) throws Exception {
        RecorderOptions options = new RecorderOptions().set("output", "recordings/" + name).set("frames", "true");
        Bench.check(TracegenRuntime.start(app, options),
                "not recording");
        Bench.settle();
    }

    /** Waits some vsyncs, in which an app that draws nothing must request none. */
    private static void silent(String when) throws Exception {
        long before = Device.vsyncsRequested();
        for (int k = 0; k < 5; k++) {
            Thread.sleep(40);
            Bench.drain();
        }
        Bench.equal(Device.vsyncsRequested() - before, 0L, "frames requested " + when);
    }

    /** Draws, and returns how many vsyncs were requested for that. */
    private static long requestedFor(int frames) throws Exception {
        long before = Device.vsyncsRequested();
        draw(frames);
        return Device.vsyncsRequested() - before;
    }

    public void noFrameIsRequestedForTheRecorder() throws Exception {
        final int frames = 150;
        draw(2);
        long own = requestedFor(frames);
        // Android requests a vsync again if the display has none that is new, which depends on the machine.
        long most = Math.max(own, frames) + frames / 10;
        long with = Long.MAX_VALUE;
        for (int k = 0; k < 10 && with > most; k++) {
            start(k == 0 ? "drawn.tgd" : "again.tgd");
            silent("before the app draws");
            with = requestedFor(frames);
            silent("after the app has drawn");
            TracegenRuntime.stop();
            Bench.ended();
        }
        Bench.check(with >= frames && with <= most, own + " frames are requested without "
                + "the recorder, " + with + " with it");
        Bench.measured(frames + " frames drawn: " + own + " requested without the recorder, " + with + " with it");
    }

    public void theRateOfThePanelIsReadAgain() throws Exception {
        start("rates.tgd");
        draw(20);
        Device.setRefreshRate(120);
        try {
            // The rate is read at most once a second.
            for (int k = 0; k < 8; k++) {
                Thread.sleep(200);
                draw(20);
            }
        } finally {
            TracegenRuntime.stop();
            Bench.ended();
            Device.setRefreshRate(60);
        }
    }

    public void messagesOfFramesAreRecognized() throws Exception {
        java.lang.reflect.Method m = Class.forName("dev.tracegen.runtime.android.FrameTimes")
                .getDeclaredMethod("isFrame", String.class);
        m.setAccessible(true);
        String handler = ">>>>> Dispatching to Handler (android.view.Choreographer$FrameHandler) {1a2b3c} ";
        String[] frames = {handler + "android.view.Choreographer$FrameDisplayEventReceiver@4d5e6f: 0",
            handler + "null: 0"};
        String[] others = {null, "", handler + "null: 1", handler + "null: 2", handler,
            ">>>>> Dispatching to Handler (app.FrameHandler) {1a2b3c} null: 0"};
        for (String text : frames) {
            Bench.check((Boolean) m.invoke(null, text), "no frame: " + text);
        }
        for (String text : others) {
            Bench.check(!(Boolean) m.invoke(null, text), "a frame: " + text);
        }
    }

    /** The vsyncs at which the main thread was busy are dropped frames; time in which it waited has none. */
    public void droppedFramesAreThoseOfABusyThread() throws Exception {
        for (int hz : new int[] {60, 90, 120}) {
            // The frame takes half a vsync, and the next begins in time.
            dropped(hz, 0, 1, 0.1, 0.5);
            // It takes two and a half.
            dropped(hz, 2, 3, 0.1, 2.5);
            // Another message takes long after a short frame, and the next frame begins behind its vsync.
            dropped(hz, 3, 4, 0.1, 0.4, 0.6, 4.3);
            // Nothing runs for ten vsyncs, because the app has requested nothing.
            dropped(hz, 0, 10, 0.1, 0.5);
            // A message in that time that covers one vsync.
            dropped(hz, 1, 10, 0.1, 0.5, 4.9, 5.1);
        }
    }

    /** Checks the count for busy times in vsyncs after the first frame's, from and to. */
    private static void dropped(int hz, int want, int next, double... busy) throws Exception {
        Class<?> type = Class.forName("dev.tracegen.runtime.detector.BusyVsyncs");
        java.lang.reflect.Constructor<?> make = type.getDeclaredConstructor();
        make.setAccessible(true);
        Object b = make.newInstance();
        long first = 5000000000L;
        call(b, "reset", new Class<?>[] {long.class, float.class}, first, (float) hz);
        for (int k = 0; k < busy.length; k += 2) {
            call(b, "add", new Class<?>[] {long.class, long.class}, first + (long) (busy[k] * 1e9 / hz),
                    first + (long) (busy[k + 1] * 1e9 / hz));
        }
        Bench.equal(call(b, "before", new Class<?>[] {long.class}, first + (long) (next * 1e9 / hz)), want,
                hz + " Hz, busy " + java.util.Arrays.toString(busy) + ", dropped before " + next);
    }

    private static Object call(Object of, String name, Class<?>[] types, Object... args) throws Exception {
        java.lang.reflect.Method m = of.getClass().getDeclaredMethod(name, types);
        m.setAccessible(true);
        return m.invoke(of, args);
    }
}
