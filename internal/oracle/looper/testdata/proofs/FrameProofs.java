import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.view.Choreographer;
import app.Load;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.android.LooperMonitor;
import dev.tracegen.runtime.android.MonitorOptions;
import dev.tracegen.runtime.android.RuntimeConfig;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;

/** What being watched and recorded costs: frames of a busy app, and CPU time of a message. */
public final class FrameProofs {
    private static final double SECONDS = 1;
    private static final int ROUNDS = 3;
    private static final int MESSAGES = 20000;
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

    /** Sends itself messages that do nothing else. */
    private static final class Chatter extends Handler {
        final CountDownLatch done = new CountDownLatch(1);
        private int left;
        private long begin;
        volatile long nanos;

        Chatter(int messages) {
            super(Looper.getMainLooper());
            left = messages;
        }

        @Override
        public void handleMessage(Message m) {
            if (begin == 0) {
                begin = THREADS.getCurrentThreadCpuTime();
            }
            if (--left > 0) {
                sendEmptyMessage(1);
            } else {
                nanos = THREADS.getCurrentThreadCpuTime() - begin;
                done.countDown();
            }
        }
    }

    /** The main thread's CPU time of a message, in nanoseconds. */
    private static long message() throws Exception {
        Chatter c = new Chatter(MESSAGES);
        c.sendEmptyMessage(1);
        Bench.await(c.done);
        return c.nanos / MESSAGES;
    }

    public void whatAMessageCosts() throws Exception {
        message();
        StringBuilder line = new StringBuilder("CPU time of a message: plain " + message() + " ns");
        for (int source : new int[] {MonitorOptions.AUTO, MonitorOptions.PRINTER}) {
            MonitorProofs.Log log = new MonitorProofs.Log();
            LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(), new MonitorOptions().source(source));
            message();
            line.append(", watched by ").append(monitor.source()).append(' ').append(message());
            monitor.add(log);
            Chatter told = new Chatter(100);
            told.sendEmptyMessage(1);
            Bench.await(told.done);
            Bench.settle();
            monitor.release();
            Bench.equal(log.count("-" + Chatter.class.getName() + " null 1"), 100, "messages told");
            RuntimeConfig config = new RuntimeConfig().output("none");
            config.monitor().source(source);
            Bench.check(TracegenRuntime.start(new App(new File(".")), config), "not recording");
            message();
            line.append(", recorded ").append(message());
            TracegenRuntime.stop();
        }
        Bench.measured(line.append(" ns").toString());
    }

    private static Drawing draw() throws Exception {
        Drawing d = new Drawing();
        Bench.main.post(d);
        Bench.await(d.done);
        return d;
    }

    public void aBusyAppDrawsItsFramesWhileItIsRecorded() throws Exception {
        File dir = new File(System.getProperty("java.io.tmpdir"), "frames-" + System.nanoTime());
        // Compiled before it counts; and off is not waiting to be started, which records too.
        draw();
        Bench.check(TracegenRuntime.start(new App(dir), new RuntimeConfig()), "not recording");
        TracegenRuntime.stop();
        double[] lost = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            lost[round] = round(dir, new RuntimeConfig(), "");
        }
        Arrays.sort(lost);
        RuntimeConfig all = new RuntimeConfig().frames(true);
        all.recorder().everyRecord(true);
        double lostToAll = round(dir, all, ", every record and frame written");
        Bench.measured(String.format(Locale.ROOT, "frames lost by recording: %.1f a second (median of %d; %.1f to %.1f), with every record and frame written %.1f",
                lost[ROUNDS / 2], ROUNDS, lost[0], lost[ROUNDS - 1], lostToAll));
    }

    /** How many frames a second recording costs: without, then with. */
    private static double round(File dir, RuntimeConfig config, String how) throws Exception {
        Drawing off = draw();
        Bench.check(TracegenRuntime.start(new App(dir), config), "not recording");
        long before = Recorder.current().thread(Looper.getMainLooper().getThread()).mark();
        Drawing on = draw();
        long records = Recorder.current().thread(Looper.getMainLooper().getThread()).mark() - before;
        TracegenRuntime.stop();
        Bench.check(on.frames > 0 && off.frames > 0, "no frames");
        // Two for each call, and those of messages.
        Bench.check(records >= 2L * on.calls * on.frames, records + " records of " + on.frames + " frames with " + on.calls + " calls");
        Bench.measured(on.calls + " calls a frame" + how + ": off " + off.result() + "; on " + on.result());
        return (off.frames - on.frames) / SECONDS;
    }
}
