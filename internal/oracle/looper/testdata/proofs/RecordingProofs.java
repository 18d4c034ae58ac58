import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import app.Feed;
import dev.tracegen.runtime.CallItem;
import dev.tracegen.runtime.EachMessage;
import dev.tracegen.runtime.MessageRecord;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.android.LooperMonitor;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** Records an instrumented app on the real main looper. */
public final class RecordingProofs implements StallListener {
    private final BlockingQueue<Stall> slow = new ArrayBlockingQueue<Stall>(100);
    private final App app = new App(directory());

    private static File directory() {
        File dir = new File(System.getProperty("java.io.tmpdir"), "proofs-" + System.nanoTime());
        Bench.check(dir.mkdirs(), "no directory");
        return dir;
    }

    @Override
    public void stallEnded(Stall message) {
        slow.add(message);
    }

    private Stall next() throws Exception {
        Stall m = slow.poll(2, TimeUnit.MINUTES);
        Bench.check(m != null, "no slow message was found");
        return m;
    }

    private void start(RecorderOptions config) throws Exception {
        Recorder.setStallListener(this);
        Bench.equal(config.problems(), new ArrayList<String>(), "problems of the configuration");
        Bench.check(TracegenRuntime.start(app, config), "not recording");
        Bench.settle();
    }

    private static void stop() throws Exception {
        TracegenRuntime.stop();
        Recorder.setStallListener(null);
        Bench.ended();
    }

    /** The methods' names by ID. */
    private static Map<Integer, String> mapping() throws Exception {
        Map<Integer, String> names = new HashMap<Integer, String>();
        BufferedReader in = new BufferedReader(new FileReader(System.getProperty("proofs.mapping")));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (!line.startsWith("#")) {
                String[] parts = line.split(",", 3);
                names.put(Integer.valueOf(parts[0]), parts[2].split(" ")[1]);
            }
        }
        in.close();
        return names;
    }

    /** Opens a feed as a message. */
    private static final class FeedHandler extends Handler {
        final Feed feed = new Feed();

        FeedHandler(Looper looper) {
            super(looper);
        }

        @Override
        public void handleMessage(Message m) {
            feed.open();
        }
    }

    private static final List<String> TREE = Arrays.asList("0 dispatchMessage 1", "1 open 1", "2 load 1", "3 rest 1",
            "3 decode 3", "4 rest 1", "4 rest 1", "4 rest 1", "2 bind 1", "3 layout 1", "4 rest 1", "3 rest 1");

    /**
     * The difference that is allowed between recorded times and those that the app measured around the same work. A
     * greater difference may happen, because of the machine, and the sampler may come late, but not each time.
     */
    private static final long BOUND_NANOS = 5000000;

    private static final int ATTEMPTS = 60;

    /** Returns the greatest difference of the message's time, or a method's, from the measured one. */
    private static long checkTree(Stall m, Feed feed, String by) throws Exception {
        Map<Integer, String> names = mapping();
        List<String> got = new ArrayList<String>();
        Map<String, Long> recorded = new HashMap<String, Long>();
        for (CallItem item : m.tree.longest(Integer.MAX_VALUE)) {
            // The code that measures is traced too, and shorter than everything else.
            if (!"took".equals(names.get(item.id))) {
                got.add(item.depth + " " + names.get(item.id) + " " + item.count);
            }
            recorded.put(names.get(item.id), item.ticks * 1000);
        }
        Bench.equal(got, TREE, "tree");
        Bench.equal(m.tree.repairs(), 0, "repairs");
        Map<String, Long> truth = new HashMap<String, Long>();
        for (int k = 0; k < feed.names.size(); k++) {
            Long before = truth.get(feed.names.get(k));
            truth.put(feed.names.get(k), feed.nanos.get(k) + (before == null ? 0 : before));
        }
        long worst = 0;
        for (Map.Entry<String, Long> e : truth.entrySet()) {
            worst = Math.max(worst, Math.abs(recorded.get(e.getKey()) - e.getValue()));
        }
        long beyond = m.wallNanos - truth.get("open");
        Bench.check(beyond >= 0, "the message is shorter than its work");
        Bench.measured("a message of 1 s, by " + by + ": " + beyond / 1000
                + " us longer than its work; its tree's methods at most " + worst / 1000 + " us off");
        return Math.max(beyond, worst);
    }

    public void aMessageOfOneSecondIsFoundWithItsTree() throws Exception {
        RecorderOptions config = TracegenRuntime.options(app);
        start(config);
        try {
            String by = LooperMonitor.of(Looper.getMainLooper()).source();
            Stall m = null;
            long off = Long.MAX_VALUE;
            boolean inTime = false;
            for (int k = 0; (off >= BOUND_NANOS || !inTime) && k < ATTEMPTS; k++) {
                FeedHandler handler = new FeedHandler(Looper.getMainLooper());
                handler.sendEmptyMessage(1);
                Bench.main.sendEmptyMessageDelayed(88, 100);
                m = next();
                off = checkTree(m, handler.feed, by);
                inTime = m.stateAtThreshold == Thread.State.TIMED_WAITING;
                Bench.drain();
            }
            Bench.check(off < BOUND_NANOS, "by " + by + ": " + off / 1000 + " us from the truth, again and again");
            Bench.equal(m.thread, "main", "thread");
            Bench.check(m.description.contains(FeedHandler.class.getName()), "description " + m.description);
            Bench.equal(m.stateAtThreshold, Thread.State.TIMED_WAITING, "state at the threshold");
            Bench.equal(m.pending == null, Bench.lockFree, "pending messages are not available");
            Bench.equal(m.pending == null ? 88 : m.pending.get(0).what, 88, "what waits");
            Bench.drain();
            Bench.equal(slow.size(), 0, "slow messages beside it");
        } finally {
            stop();
        }
        File recording = new File(app.getNoBackupFilesDir(), "recordings/app.tgd");
        byte[] magic = new byte[4];
        FileInputStream in = new FileInputStream(recording);
        Bench.equal(in.read(magic), 4, "bytes of the recording");
        in.close();
        Bench.equal(new String(magic, "US-ASCII"), "TGD1", "the recording's begin");
        Bench.equal(Bench.printer(), null, "the printer after the end");
    }

    public void theLongestOfManyMessagesIsDescribed() throws Exception {
        start(EachMessage.in(TracegenRuntime.options(app)));
        try {
            for (int k = 0; k < 5; k++) {
                Bench.main.sendEmptyMessage(60 + k);
            }
            Bench.drain();
            int seen = 0;
            for (MessageRecord r : Recorder.current().thread(Looper.getMainLooper().getThread()).history()) {
                for (int k = 0; k < 5; k++) {
                    seen += r.description.contains(Handler.class.getName())
                            && r.description.endsWith(": " + (60 + k)) ? 1 : 0;
                }
            }
            Bench.equal(seen, 5, "messages in the history");
        } finally {
            stop();
        }
    }

    public void aSlowIdleHandlerIsFound() throws Exception {
        if (!Bench.seesIdleHandlers()) {
            return;
        }
        RecorderOptions config = TracegenRuntime.options(app);
        config.set("slow-idle", "700");
        start(config);
        try {
            final Feed feed = new Feed();
            Bench.onMain(new Runnable() {
                @Override
                public void run() {
                    Looper.myQueue().addIdleHandler(new SlowIdle(feed));
                }
            });
            Stall m = next();
            checkTree(m, feed, "the list of idle handlers");
            Bench.check(m.description.contains(SlowIdle.class.getName()), "description " + m.description);
        } finally {
            stop();
        }
    }

    private static final class SlowIdle implements android.os.MessageQueue.IdleHandler {
        private final Feed feed;

        SlowIdle(Feed feed) {
            this.feed = feed;
        }

        @Override
        public boolean queueIdle() {
            feed.open();
            return false;
        }
    }

    public void aChosenHandlerThreadIsRecorded() throws Exception {
        start(TracegenRuntime.options(app));
        try {
            HandlerThread thread = new HandlerThread("feeder");
            thread.start();
            Bench.check(TracegenRuntime.watch(thread.getLooper()) && TracegenRuntime.watch(thread.getLooper()),
                    "not watched");
            FeedHandler handler = new FeedHandler(thread.getLooper());
            handler.sendEmptyMessage(1);
            Stall m = next();
            Bench.equal(m.thread, "feeder", "thread");
            checkTree(m, handler.feed, "a monitor of a HandlerThread");
            Bench.drain(handler);
            Bench.equal(slow.size(), 0, "slow messages beside it");
            thread.quit();
            thread.join();
        } finally {
            stop();
        }
    }

    public void whatTheFileSaysWronglyIsNamed() throws Exception {
        Properties p = new Properties();
        p.setProperty("slow", "soon");
        p.setProperty("tick", "s");
        p.setProperty("enabled", "yes");
        p.setProperty("colour", "red");
        p.setProperty("check", "-1");
        List<String> problems = new RecorderOptions().apply(p).problems();
        Bench.equal(problems, Arrays.asList(
                "check=-1: want a whole number of milliseconds, at least 0; the "
                        + "default is used",
                "colour=red: unknown key; the default is used",
                "enabled=yes: want true or false; the default is used",
                "slow=soon: want a whole number of milliseconds, at least 1; the "
                        + "default is used",
                "tick=s: want ms or us; the default is used"), "problems");
        Bench.check(!TracegenRuntime.start(app, new RecorderOptions().set("enabled", "false")),
                "recording, though it is switched off");
        Bench.equal(Bench.printer(), null, "the printer when switched off");
    }
}
