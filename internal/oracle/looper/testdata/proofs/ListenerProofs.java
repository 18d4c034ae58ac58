import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** What the app's own StallListener may do: wait, throw, and call the runtime. The main thread never waits for it. */
public final class ListenerProofs {
    private final App app = new App(StartProofs.directory());

    private static final class Slow implements Runnable {
        @Override
        public void run() {
            try {
                Thread.sleep(60);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private void start(String output) throws Exception {
        RecorderOptions config = new RecorderOptions().set("output", output);
        config.slowMillis(50);
        Bench.check(TracegenRuntime.start(app, config), "not recording");
        Bench.settle();
    }

    public void aListenerThatWaitsDelaysNothing() throws Exception {
        final CountDownLatch called = new CountDownLatch(1);
        final CountDownLatch go = new CountDownLatch(1);
        final HandlerThread other = new HandlerThread("other");
        other.start();
        Recorder.setStallListener(new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                called.countDown();
                // The listener calls the runtime, and waits as if for a disk.
                TracegenRuntime.watch(other.getLooper());
                try {
                    go.await(10, TimeUnit.MINUTES);
                } catch (InterruptedException e) {
                    // The recorder ends.
                }
            }
        });
        start("none");
        Bench.main.post(new Slow());
        Bench.await(called);
        // While the listener waits, the main thread does all that an app may do.
        final boolean[] watched = new boolean[1];
        final CountDownLatch done = new CountDownLatch(1);
        Bench.main.post(new Runnable() {
            @Override
            public void run() {
                watched[0] = TracegenRuntime.watch(other.getLooper());
                TracegenRuntime.stop();
                TracegenRuntime.start(app, new RecorderOptions().set("output", "none"));
                TracegenRuntime.stop();
                done.countDown();
            }
        });
        while (!done.await(10, TimeUnit.MILLISECONDS)) {
            waitsForUs(Looper.getMainLooper().getThread().getStackTrace());
        }
        Bench.check(watched[0], "not watched");
        go.countDown();
        Recorder.setStallListener(null);
        other.quit();
        Bench.settle();
    }

    /** Fails if a thread waits in the runtime for another thread. */
    private static void waitsForUs(StackTraceElement[] stack) {
        boolean waits = false;
        for (StackTraceElement e : stack) {
            waits |= e.getMethodName().equals("join") || e.getMethodName().equals("park")
                    || e.getMethodName().equals("wait");
            Bench.check(!waits || !e.getClassName().startsWith("dev.tracegen.runtime"),
                    "the main thread waits in " + e);
        }
    }

    public void aListenerThatThrowsIsCalledAgain() throws Exception {
        final AtomicInteger calls = new AtomicInteger();
        Recorder.setStallListener(new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                calls.incrementAndGet();
                throw new IllegalStateException("in a listener, as planned");
            }
        });
        start("none");
        for (int k = 1; k <= 3; k++) {
            Bench.onMain(new Slow());
            final int want = k;
            Bench.until("call " + want + " of the listener", new Bench.Condition() {
                @Override
                public boolean holds() {
                    return calls.get() >= want;
                }
            });
        }
        Bench.equal(AppMethodBeat.status(), AppMethodBeat.STATUS_STARTED, "the status");
        TracegenRuntime.stop();
        Recorder.setStallListener(null);
        Bench.settle();
    }

    public void aListenerMayStopAndStart() throws Exception {
        final CountDownLatch called = new CountDownLatch(1);
        Recorder.setStallListener(new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                TracegenRuntime.stop();
                TracegenRuntime.start(app, new RecorderOptions().set("output", "none"));
                called.countDown();
            }
        });
        start("none");
        Bench.main.post(new Slow());
        Bench.await(called);
        Recorder.setStallListener(null);
        Bench.settle();
        Bench.equal(AppMethodBeat.status(), AppMethodBeat.STATUS_STARTED, "the status after the start");
        TracegenRuntime.stop();
        Bench.settle();
        Bench.check(AppMethodBeat.status() != AppMethodBeat.STATUS_STARTED, "recording after the stop");
    }
}
