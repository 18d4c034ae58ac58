import android.app.Activity;
import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import android.util.Printer;
import android.view.Choreographer;
import dev.tracegen.runtime.EachMessage;
import dev.tracegen.runtime.MessageRecord;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.LooperMonitor;
import dev.tracegen.runtime.android.QueueSnapshot;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.util.concurrent.CountDownLatch;

/** Which kinds of facts the runtime sees on this platform, for the table in the documents. */
public final class SeenProofs {
    private final App app = new App(StartProofs.directory());

    private static final class MarkedIdle implements MessageQueue.IdleHandler {
        @Override
        public boolean queueIdle() {
            return false;
        }
    }

    private static boolean inHistory(String text) {
        for (MessageRecord r : Recorder.current().thread(Looper.getMainLooper().getThread()).history()) {
            if (r.description.contains(text)) {
                return true;
            }
        }
        return false;
    }

    private static String yes(boolean seen) {
        return seen ? "yes" : "no";
    }

    public void whatIsSeen() throws Exception {
        RecorderOptions config = new RecorderOptions().set("output", "none");
        config.set("check", "0");
        Bench.check(TracegenRuntime.start(app, EachMessage.in(config)), "not recording");
        Bench.settle();
        Bench.drain();
        Bench.drain();
        LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper());
        Bench.main.sendEmptyMessage(41);
        Bench.main.post(new Runnable() {
            @Override
            public void run() {
                Looper.myQueue().addIdleHandler(new MarkedIdle());
            }
        });
        Bench.drain();
        // An idle handler is reported before the next message at the latest.
        Bench.drain();
        Bench.seen("messages of a looper", inHistory(Handler.class.getName()) ? "by the " + monitor.source() : "no");
        Bench.seen("runs of idle handlers", yes(inHistory("IdleHandler " + MarkedIdle.class.getName())));
        Bench.main.sendEmptyMessageDelayed(42, 600000);
        QueueSnapshot queue = QueueSnapshot.of(Looper.getMainLooper());
        Bench.seen("messages that wait", yes(queue != null && !queue.snapshot(100).isEmpty()));
        Bench.main.removeMessages(42);
        if (monitor.source().equals("printer")) {
            Printer thief = new Printer() {
                @Override
                public void println(String line) {
                }
            };
            Looper.getMainLooper().setMessageLogging(thief);
            for (int k = 0; monitor.reinstalls() == 0 && k < 20; k++) {
                Bench.drain();
            }
            Bench.seen("that other code has replaced the printer", yes(monitor.reinstalls() > 0));
        }
        Activity activity = Objects.activity();
        Objects.lifecycle(app, "Started", activity);
        Bench.seen("foreground and background", yes(Objects.foreground()));
        TracegenRuntime.stop();
        Bench.settle();
        Looper.getMainLooper().setMessageLogging(null);
        frames();
    }

    /** The Go test counts the frames in the recording. */
    private void frames() throws Exception {
        RecorderOptions config = new RecorderOptions().set("frames", "true").set("output", "recordings/seen.tgd");
        Bench.check(TracegenRuntime.start(app, config), "not recording");
        Bench.settle();
        Bench.drain();
        final CountDownLatch drawn = new CountDownLatch(5);
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                Choreographer.getInstance().postFrameCallback(new Choreographer.FrameCallback() {
                    @Override
                    public void doFrame(long due) {
                        drawn.countDown();
                        if (drawn.getCount() > 0) {
                            Choreographer.getInstance().postFrameCallback(this);
                        }
                    }
                });
            }
        });
        Bench.await(drawn);
        Bench.drain();
        TracegenRuntime.stop();
        Bench.ended();
    }
}
