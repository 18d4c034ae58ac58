import android.os.Looper;
import android.view.Choreographer;
import app.Load;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;

/** The number of frames that a busy app draws with and without being recorded. */
public final class FrameProofs {
    private static final double SECONDS = 1;
    private static final int ROUNDS = 3;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int STEPS = 3333;

    /** Draws frames, each with an instrumented load, and counts. */
    private static final class Drawing implements Choreographer.FrameCallback, Runnable {
        final CountDownLatch done = new CountDownLatch(1);
        private final Load load = new Load();
        private long first;
        private long last;
        int frames;
        int missed;
        int calls;
        long workNanos;

        @Override
        public void run() {
            Choreographer.getInstance().postFrameCallback(this);
        }

        @Override
        public void doFrame(long due) {
            if (first == 0) {
                first = due;
            } else {
                frames++;
                missed += (int) Math.round((due - last) * 60 / 1e9) - 1;
            }
            last = due;
            long begin = THREADS.getCurrentThreadCpuTime();
            calls = load.frame(STEPS);
            workNanos += THREADS.getCurrentThreadCpuTime() - begin;
            if (due - first < SECONDS * 1e9) {
                Choreographer.getInstance().postFrameCallback(this);
            } else {
                done.countDown();
            }
        }

        String result() {
            return String.format(Locale.ROOT, "%.1f frames/s, %d missed, load %.2f ms of CPU", frames / SECONDS, missed,
                    workNanos / 1e6 / (frames + 1));
        }
    }

    private static Drawing draw() throws Exception {
        Drawing d = new Drawing();
        Bench.main.post(d);
        Bench.await(d.done);
        return d;
    }

    public void aBusyAppDrawsItsFramesWhileItIsRecorded() throws Exception {
        File dir = new File(System.getProperty("java.io.tmpdir"), "frames-" + System.nanoTime());
        // The code is compiled before it is measured. Switched off is not the same as waiting to be started, which
        // records too.
        draw();
        Bench.check(TracegenRuntime.start(new App(dir), new RecorderOptions()), "not recording");
        Bench.settle();
        TracegenRuntime.stop();
        double[] lost = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            RecorderOptions config = new RecorderOptions();
            config.set("gate", "off"); // each call is counted below
            lost[round] = round(dir, config, "");
        }
        Arrays.sort(lost);
        RecorderOptions all = new RecorderOptions().set("frames", "true");
        all.everyRecord(true).set("gate", "off");
        double lostToAll = round(dir, all, ", every record and frame written");
        Bench.measured(String.format(Locale.ROOT,
                "frames lost by recording: %.1f a second (median of %d; %.1f to %.1f), with every record and frame "
                + "written %.1f",
                lost[ROUNDS / 2], ROUNDS, lost[0], lost[ROUNDS - 1], lostToAll));
    }

    /** The number of frames per second that recording costs: without, then with. */
    private static double round(File dir, RecorderOptions config, String how) throws Exception {
        Drawing off = draw();
        Bench.check(TracegenRuntime.start(new App(dir), config), "not recording");
        Bench.settle();
        long before = Recorder.current().thread(Looper.getMainLooper().getThread()).mark();
        Drawing on = draw();
        long records = Recorder.current().thread(Looper.getMainLooper().getThread()).mark() - before;
        TracegenRuntime.stop();
        Bench.ended();
        Bench.check(on.frames > 0 && off.frames > 0, "no frames");
        // Two records for each call, and those of messages.
        Bench.check(records >= 2L * on.calls * on.frames, records + " records of " + on.frames + " frames with "
                + on.calls + " calls");
        Bench.measured(on.calls + " calls a frame" + how + ": off " + off.result() + "; on " + on.result());
        return (off.frames - on.frames) / SECONDS;
    }
}
