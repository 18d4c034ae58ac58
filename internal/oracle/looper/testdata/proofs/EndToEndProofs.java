import android.app.Activity;
import android.app.Application;
import android.os.Bundle;
import android.os.Looper;
import android.os.MessageQueue;
import android.view.Choreographer;
import app.Shop;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.CallTree;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.IncidentListener;
import dev.tracegen.runtime.MessageRecord;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.ThreadStack;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;

/**
 * An app that stalls in seven ways, each by a method of its own, and sends reports to a collector. The sessions share
 * an outbox, as those of an installation do. A stall is repeated until it is reported with its method, so that a busy
 * machine makes no difference.
 */
public final class EndToEndProofs implements StallListener, IncidentListener {
    private static final String SHOP = "app.Shop.";
    private static final App APP = new App(StartProofs.directory());

    /** What must be on before the app stalls. */
    private static final String[] DETECTORS = {"sync-barrier", "watchdog", "anr", "frames", "startup"};

    /** The IDs of the reports that must reach the collector. */
    private static final Set<String> REPORTS = new ConcurrentSkipListSet<String>();

    private final Shop shop = new Shop();
    private final Map<Integer, String> names = new HashMap<Integer, String>();

    /** Kind and method of what was found, and of what has ended. */
    private final Set<String> found = new ConcurrentSkipListSet<String>();
    private final Set<String> ended = new ConcurrentSkipListSet<String>();

    /** Whether an incident has ended, by its number. */
    private final Map<Long, Boolean> incidents = new ConcurrentSkipListMap<Long, Boolean>();
    private String recording;
    private Activity shown;

    /** Makes a stall, and returns when it is over. */
    private abstract static class Way {
        abstract void make() throws Exception;
    }

    /** Something that runs on the main thread. */
    private abstract static class Work implements Runnable {
        abstract void work() throws Exception;

        @Override
        public void run() {
            try {
                work();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Override
    public void stallEnded(Stall s) {
        String kind = s.kind == MessageRecord.IDLE_HANDLER ? "idle-handler" : "message";
        ended.add(kind + " " + method(s.tree, s.samples));
        REPORTS.add(recording + "-s" + s.number + "-" + s.threadIndex);
    }

    @Override
    public void incidentFound(Incident i) {
        String what = i.kind + " " + method(i.tree, i.stacks);
        found.add(what);
        boolean over = i.endNanos != 0;
        if (over) {
            ended.add(what);
        }
        incidents.put(i.number, over);
        REPORTS.add(recording + "-i" + i.number);
    }

    /** Returns the innermost method of the hot path, or else of the first stack. */
    private String method(CallTree tree, List<ThreadStack> stacks) {
        List<Integer> path = tree == null ? null : tree.hotPath();
        if (path != null && !path.isEmpty()) {
            return names.get(path.get(path.size() - 1));
        }
        for (ThreadStack stack : stacks) {
            for (StackTraceElement e : stack.frames) {
                if (e.getClassName().startsWith("app.")) {
                    return e.getClassName() + "." + e.getMethodName();
                }
            }
        }
        return "none";
    }

    private void readNames() throws Exception {
        BufferedReader in = new BufferedReader(new FileReader(System.getProperty("proofs.mapping")));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (!line.startsWith("#")) {
                String[] parts = line.split(",", 3);
                String[] words = parts[2].split(" ");
                names.put(Integer.valueOf(parts[0]), words[0] + "." + words[1]);
            }
        }
        in.close();
    }

    private static Properties settings() {
        Properties p = new Properties();
        for (String text : System.getProperty("proofs.settings").split(";")) {
            p.setProperty(text.substring(0, text.indexOf('=')), text.substring(text.indexOf('=') + 1));
        }
        return p;
    }

    /** Starts a session in which all detectors are on. */
    private void start() throws Exception {
        readNames();
        Properties p = settings();
        StringBuilder all = new StringBuilder();
        for (String name : DETECTORS) {
            all.append(all.length() == 0 ? "" : ",").append(name);
        }
        p.setProperty("detectors", all.toString());
        RecorderOptions config = new RecorderOptions().set("output", "none").apply(p);
        Bench.equal(config.problems().size(), 0, "problems " + config.problems());
        Bench.check(TracegenRuntime.start(APP, config), "not recording");
        Bench.settle();
        recording = Recorder.current().recordingId();
        Recorder.setStallListener(this);
        Recorder.setIncidentListener(this);
        Recorder.current().foreground(true);
        for (final String name : DETECTORS) {
            Bench.until(name + " is on", new Bench.Condition() {
                @Override
                public boolean holds() {
                    return "on".equals(Recorder.current().detectorStates().get(name));
                }
            });
        }
        Bench.drain();
    }

    /** Ends the session when all of its incidents have ended. */
    private void stop() throws Exception {
        leaveActivity();
        Bench.until("all incidents end", new Bench.Condition() {
            @Override
            public boolean holds() {
                return !incidents.containsValue(false);
            }
        });
        TracegenRuntime.stop();
        Bench.ended();
        Recorder.setStallListener(null);
        Recorder.setIncidentListener(null);
    }

    private boolean isFound(String kind, String method) {
        return found.contains(kind + " " + SHOP + method);
    }

    /** Makes a stall until it has ended and was reported with its method. */
    private void stall(String kind, String method, Way way) throws Exception {
        String what = kind + " " + SHOP + method;
        long begin = System.nanoTime();
        int times = 0;
        while (!ended.contains(what)) {
            Bench.check(System.nanoTime() - begin < 240000000000L, what + ": not reported, but " + ended);
            way.make();
            times++;
            for (int k = 0; k < 100 && !ended.contains(what); k++) {
                Thread.sleep(20);
            }
        }
        Bench.measured(what + ": reported after " + times + " stalls");
    }

    public void aSessionStallsInSevenWays() throws Exception {
        start();
        // Before the others: a cold start goes back to the begin of the process.
        stall("startup", "createCart", new Way() {
            @Override
            void make() throws Exception {
                startActivity();
            }
        });
        stall("message", "showOffer", new Way() {
            @Override
            void make() throws Exception {
                shop.offerLater(Bench.main, new Work() {
                    @Override
                    void work() throws Exception {
                        shop.showOffer();
                    }
                });
                Bench.drain();
            }
        });
        stall("idle-handler", "evictImages", new Way() {
            @Override
            void make() throws Exception {
                evict();
            }
        });
        stall("frozen-frame", "drawGrid", new Way() {
            @Override
            void make() throws Exception {
                draw();
            }
        });
        stall("missed-poll", "refreshPrice", new Way() {
            @Override
            void make() throws Exception {
                refresh();
            }
        });
        stall("lag", "saveOrder", new Way() {
            @Override
            void make() throws Exception {
                save();
            }
        });
        stall("anr", "syncAll", new Way() {
            @Override
            void make() throws Exception {
                sync();
            }
        });
        stop();
    }

    /** The next start sends what is left in the outbox. */
    public void cSessionSendsTheRest() throws Exception {
        Properties p = settings();
        p.setProperty("slow", "60000");
        p.setProperty("slow-idle", "60000");
        Bench.check(TracegenRuntime.start(APP, new RecorderOptions().set("output", "none").apply(p)), "not recording");
        final File outbox = new File(APP.getNoBackupFilesDir(), "tracegen/outbox");
        Bench.until("the outbox is empty", new Bench.Condition() {
            @Override
            public boolean holds() {
                for (String name : outbox.list()) {
                    if (name.endsWith(".report")) {
                        return false;
                    }
                }
                return true;
            }
        });
        TracegenRuntime.stop();
        Bench.ended();
        StringBuilder all = new StringBuilder();
        for (String id : REPORTS) {
            all.append(' ').append(id);
        }
        Bench.seen("reports", all.toString().trim());
    }

    /** Runs something on the main thread outside of messages: in an IdleHandler. */
    private static void idle(final Runnable work) throws Exception {
        final CountDownLatch done = new CountDownLatch(1);
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                Looper.myQueue().addIdleHandler(new MessageQueue.IdleHandler() {
                    @Override
                    public boolean queueIdle() {
                        work.run();
                        done.countDown();
                        return false;
                    }
                });
            }
        });
        Bench.await(done);
    }

    private void evict() throws Exception {
        idle(new Work() {
            @Override
            void work() throws Exception {
                shop.evictImages();
            }
        });
    }

    /** Draws six frames, of which the third is late. */
    private void draw() throws Exception {
        final CountDownLatch drawn = new CountDownLatch(6);
        final Choreographer.FrameCallback callback = new Choreographer.FrameCallback() {
            @Override
            public void doFrame(long due) {
                try {
                    if (drawn.getCount() == 3) {
                        shop.drawGrid();
                    }
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                drawn.countDown();
                if (drawn.getCount() > 0) {
                    Choreographer.getInstance().postFrameCallback(this);
                }
            }
        };
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                Choreographer.getInstance().postFrameCallback(callback);
            }
        });
        Bench.await(drawn);
        Bench.drain();
    }

    /** Starts an activity that is created slowly, and leaves it in the foreground. */
    private void startActivity() throws Exception {
        leaveActivity();
        shown = Objects.bare(Objects.WindowActivity.class);
        final Method created = Application.class.getDeclaredMethod("dispatchActivityCreated", Activity.class,
                Bundle.class);
        created.setAccessible(true);
        Bench.onMain(new Work() {
            @Override
            void work() throws Exception {
                shop.createCart();
                created.invoke(APP, shown, null);
            }
        });
        Objects.lifecycle(APP, "Started", shown);
        Objects.lifecycle(APP, "Resumed", shown);
        focus(true);
    }

    private void leaveActivity() throws Exception {
        if (shown != null) {
            focus(false);
            Objects.lifecycle(APP, "Paused", shown);
            Objects.lifecycle(APP, "Stopped", shown);
            shown = null;
        }
    }

    private void focus(final boolean has) throws Exception {
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                AppMethodBeat.at(shown, has);
            }
        });
    }

    /** Runs many short messages. */
    private void refresh() throws Exception {
        for (int k = 0; k < 300; k++) {
            Bench.main.post(new Work() {
                @Override
                void work() throws Exception {
                    shop.refreshPrice();
                }
            });
        }
        Bench.drain();
    }

    /** Waits for a lock that another thread holds until the wait was found. */
    private void save() throws Exception {
        final Object lock = new Object();
        final CountDownLatch held = new CountDownLatch(1);
        Thread owner = new Thread("order-writer") {
            @Override
            public void run() {
                synchronized (lock) {
                    held.countDown();
                    waitFor("lag", "saveOrder");
                }
            }
        };
        owner.start();
        Bench.await(held);
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                shop.saveOrder(lock);
            }
        });
        owner.join();
        Bench.drain();
    }

    /** Waits for an answer that comes when the wait was found. */
    private void sync() throws Exception {
        final CountDownLatch answered = new CountDownLatch(1);
        Thread server = new Thread("server") {
            @Override
            public void run() {
                waitFor("anr", "syncAll");
                answered.countDown();
            }
        };
        server.start();
        Bench.onMain(new Work() {
            @Override
            void work() throws Exception {
                shop.syncAll(answered);
            }
        });
        server.join();
        Bench.drain();
    }

    /** Waits until something was found, for 30 seconds: then it is tried again. */
    private void waitFor(String kind, String method) {
        long begin = System.nanoTime();
        try {
            while (!isFound(kind, method) && System.nanoTime() - begin < 30000000000L) {
                Thread.sleep(20);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
