import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.view.Choreographer;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.Dispatch;
import dev.tracegen.runtime.android.DispatchListener;
import dev.tracegen.runtime.android.LooperMonitor;
import dev.tracegen.runtime.android.TracegenRuntime;
import dev.tracegen.runtime.detector.Detectors;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What each source of messages and each detector costs, beside the same without it. Only counts and bytes are checked.
 * The times are printed.
 */
public final class DetectorCosts {
    private static final int MESSAGES = 2000;
    private static final int CHAINS = 4;
    private static final int RUNS = 300;

    private static final int FRAMES = 20;
    private static final int IDLE_MILLIS = 300;

    private static final int OFF_MILLIS = 300;

    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final App app = new App(StartProofs.directory());

    /** All values by the state and what was measured, in the order of the rounds. */
    private final Map<String, StringBuilder> values = new LinkedHashMap<String, StringBuilder>();

    private Objects.WindowActivity activity;

    /** Counts what the main thread uses from {@link #begin} on. Used by that thread only. */
    private static class Meter {
        final CountDownLatch done = new CountDownLatch(1);
        private long nanos;
        private long bytes;

        void begin() {
            // The first call may allocate.
            THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
            nanos = THREADS.getCurrentThreadCpuTime();
            bytes = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
        }

        void end() {
            bytes = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId()) - bytes;
            nanos = THREADS.getCurrentThreadCpuTime() - nanos;
            done.countDown();
        }
    }

    /** A handler that sends itself messages. Its text has one length, because the Looper copies it. */
    private static final class Chain extends Handler {
        final Meter meter = new Meter();
        private int left = MESSAGES;

        Chain() {
            super(Looper.getMainLooper());
        }

        @Override
        public String toString() {
            return "Handler (DetectorCosts$Chain) {1234567}";
        }

        @Override
        public void handleMessage(Message message) {
            if (left == MESSAGES) {
                meter.begin();
            }
            if (left-- > 0) {
                sendEmptyMessage(0);
            } else {
                meter.end();
            }
        }
    }

    /** An IdleHandler that sends a message in each run, so that the queue is idle again. */
    private static final class Runs extends Handler implements MessageQueue.IdleHandler, Runnable {
        final Meter meter = new Meter();
        private int left = RUNS;

        Runs() {
            super(Looper.getMainLooper());
        }

        @Override
        public String toString() {
            return "Handler (DetectorCosts$Runs) {12345678}";
        }

        @Override
        public void run() {
            Looper.myQueue().addIdleHandler(this);
        }

        @Override
        public boolean queueIdle() {
            if (left == RUNS) {
                meter.begin();
            }
            if (left-- > 0) {
                sendEmptyMessage(0);
                return true;
            }
            meter.end();
            return false;
        }
    }

    /** Frames in a row. */
    private static final class Drawing implements Choreographer.FrameCallback, Runnable {
        final Meter meter = new Meter();
        private int left = FRAMES;

        @Override
        public void run() {
            Choreographer.getInstance().postFrameCallback(this);
        }

        @Override
        public void doFrame(long due) {
            if (left == FRAMES) {
                meter.begin();
            }
            if (left-- > 0) {
                Choreographer.getInstance().postFrameCallback(this);
            } else {
                meter.end();
            }
        }
    }

    private void add(String state, String what, double value) {
        String key = state + " " + what;
        StringBuilder all = values.get(key);
        if (all == null) {
            all = new StringBuilder();
            values.put(key, all);
        }
        all.append(all.length() == 0 ? "" : " ").append(value);
    }

    private void start(boolean idleHandlers) throws Exception {
        Properties p = new Properties();
        p.setProperty("idle-handlers", String.valueOf(idleHandlers));
        // A loaded machine must not make a detector report something while it is measured.
        p.setProperty("slow", "600000");
        p.setProperty("slow-idle", "600000");
        p.setProperty("anr.lag-millis", "600000");
        // What is posted after the end must be seen soon.
        p.setProperty("sync-barrier.poll-millis", "50");
        p.setProperty("watchdog.poll-millis", "50");
        RecorderOptions config = new RecorderOptions().set("output", "none").apply(p);
        Bench.equal(config.problems().size(), 0, "problems " + config.problems());
        Bench.check(TracegenRuntime.start(app, config), "not recording");
        Bench.settle();
        Objects.lifecycle(app, "Started", activity);
        Objects.lifecycle(app, "Resumed", activity);
        // Without the focus the start would be open, and the focus be looked for after each message.
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                AppMethodBeat.at(activity, true);
            }
        });
        Recorder.current().foreground(true);
        Bench.drain();
    }

    private void stop() throws Exception {
        Objects.lifecycle(app, "Paused", activity);
        Objects.lifecycle(app, "Stopped", activity);
        TracegenRuntime.stop();
        Bench.ended();
        Bench.until("the detectors' threads end", new Bench.Condition() {
            @Override
            public boolean holds() {
                return threads().isEmpty();
            }
        });
    }

    /** Returns the threads of the runtime that only detectors have. */
    private static Set<String> threads() {
        Set<String> names = new TreeSet<String>();
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getName().matches("tracegen-(detectors|detectors-end|frames|anr|sigquit)")) {
                names.add(t.getName());
            }
        }
        return names;
    }

    private static Thread detectorsThread() {
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getName().equals("tracegen-detectors")) {
                return t;
            }
        }
        return null;
    }

    /** Returns how often the detectors' thread has gone to sleep, as Linux counts; 0 if there is no such thread. */
    private static long sleeps() throws Exception {
        File[] tasks = new File("/proc/self/task").listFiles();
        for (File task : tasks == null ? new File[0] : tasks) {
            try {
                List<String> lines = Files.readAllLines(new File(task, "status").toPath(), StandardCharsets.UTF_8);
                if (lines.get(0).endsWith("tracegen-detect")) {
                    for (String line : lines) {
                        if (line.startsWith("voluntary_ctxt_switches:")) {
                            return Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
                        }
                    }
                }
            } catch (java.io.IOException e) {
                // The thread has ended.
                continue;
            }
        }
        return 0;
    }

    private static long cpu(Thread t) {
        return t == null ? 0 : Math.max(0, THREADS.getThreadCpuTime(t.getId()));
    }

    private void mainThread(String state) throws Exception {
        double nanos = Double.MAX_VALUE;
        double bytes = Double.MAX_VALUE;
        for (int k = 0; k < CHAINS; k++) {
            Chain chain = new Chain();
            chain.sendEmptyMessage(0);
            Bench.await(chain.meter.done);
            nanos = Math.min(nanos, (double) chain.meter.nanos / MESSAGES);
            bytes = Math.min(bytes, (double) chain.meter.bytes / MESSAGES);
        }
        add(state, "message ns", nanos);
        add(state, "message bytes", bytes);
        Runs runs = new Runs();
        Bench.main.post(runs);
        Bench.await(runs.meter.done);
        add(state, "idle ns", (double) runs.meter.nanos / RUNS);
        add(state, "idle bytes", (double) runs.meter.bytes / RUNS);
    }

    private void frames(String state) throws Exception {
        Thread thread = detectorsThread();
        long sleeps = sleeps();
        long cpu = cpu(thread);
        long begin = System.nanoTime();
        Drawing d = new Drawing();
        Bench.main.post(d);
        Bench.await(d.meter.done);
        double minutes = (System.nanoTime() - begin) / 60e9;
        add(state, "frame ns", (double) d.meter.nanos / FRAMES);
        add(state, "frame bytes", (double) d.meter.bytes / FRAMES);
        add(state, "drawing wake-ups/min", (sleeps() - sleeps) / minutes);
        add(state, "drawing cpu ms/min", (cpu(thread) - cpu) / 1e6 / minutes);
    }

    /** Measures an app that does nothing. Returns how many messages the main thread has run meanwhile. */
    private int idle(String state, long millis) throws Exception {
        final AtomicInteger messages = new AtomicInteger();
        DispatchListener counter = new DispatchListener() {
            @Override
            public void dispatchEnd(Dispatch dispatch) {
                if (!dispatch.isIdleHandler()) {
                    messages.incrementAndGet();
                }
            }
        };
        Bench.drain();
        LooperMonitor.of(Looper.getMainLooper()).add(counter);
        Thread thread = detectorsThread();
        long sleeps = sleeps();
        long cpu = cpu(thread);
        long begin = System.nanoTime();
        Thread.sleep(millis);
        double minutes = (System.nanoTime() - begin) / 60e9;
        int ran = messages.get();
        LooperMonitor.of(Looper.getMainLooper()).remove(counter);
        add(state, "idle wake-ups/min", (sleeps() - sleeps) / minutes);
        add(state, "idle cpu ms/min", (cpu(thread) - cpu) / 1e6 / minutes);
        add(state, "idle messages/min", ran / minutes);
        add(state, "threads", threads().size());
        return ran;
    }

    private static Map<?, ?> entries() throws Exception {
        Object session = ((AtomicReference<?>) Bench.field(null, TracegenRuntime.class, "CURRENT")).get();
        Object detectors = Bench.field(session, session.getClass(), "detectors");
        return (Map<?, ?>) Bench.field(detectors, detectors.getClass(), "entries");
    }

    private static WeakReference<Object> environment(String name) throws Exception {
        Object entry = entries().get(name);
        return new WeakReference<Object>(Bench.field(entry, entry.getClass(), "environment"));
    }

    /** Switches a detector. Returns false if it is not available. */
    private static boolean set(final String name, final boolean on) throws Exception {
        Bench.check(TracegenRuntime.detector(name, on), "the detector " + name + " is not switched");
        Bench.until(name + " is switched", new Bench.Condition() {
            @Override
            public boolean holds() {
                String state = Recorder.current().detectorStates().get(name);
                return state != null && !state.equals(on ? "off" : "on");
            }
        });
        Bench.drain();
        Bench.drain();
        return Recorder.current().detectorStates().get(name).equals(on ? "on" : "off");
    }

    private static List<String> names() {
        return Detectors.NAMES;
    }

    public void whatEachDetectorCosts() throws Exception {
        activity = Objects.activity();
        // Code that is compiled later would make the first states slow.
        for (int k = 0; k < 5; k++) {
            mainThread("warm");
        }
        mainThread("none");
        start(false);
        mainThread("messages");
        stop();
        start(true);
        mainThread("idle-handlers");
        frames("idle-handlers");
        idle("idle-handlers", IDLE_MILLIS);
        for (String name : names()) {
            detector(name);
        }
        stop();
        for (Map.Entry<String, StringBuilder> e : values.entrySet()) {
            if (!e.getKey().startsWith("warm ") && !e.getKey().startsWith("again ")) {
                Bench.seen(e.getKey(), e.getValue().toString());
            }
        }
    }

    private double last(String key) {
        String all = values.get(key).toString();
        return Double.parseDouble(all.substring(all.lastIndexOf(' ') + 1));
    }

    private void detector(String name) throws Exception {
        if (!set(name, true)) {
            Bench.measured(name + " is " + Recorder.current().detectorStates().get(name));
            return;
        }
        mainThread(name);
        double without = last("idle-handlers message bytes");
        double with = last(name + " message bytes");
        // A byte is for what the JVM may do now and then. On a busy machine it does more in some runs.
        for (int k = 0; k < 20 && with - without >= 1; k++) {
            mainThread("again " + name);
            with = Math.min(with, last("again " + name + " message bytes"));
        }
        Bench.check(with - without < 1, "a message allocates " + with + " bytes with the detector " + name + ", "
                + without + " without");
        frames(name);
        // At least a multiple of the poll.
        idle(name, name.equals("watchdog") || name.equals("sync-barrier") ? 4 * IDLE_MILLIS : IDLE_MILLIS);
        final WeakReference<Object> environment = environment(name);
        Bench.check(environment.get() != null, name + " is on and has no environment");
        set(name, false);
        int messages = idle(name + " off", OFF_MILLIS);
        Bench.equal(messages, 0, "messages after " + name + " was switched off");
        Bench.check(Bench.collected(environment), "something holds the detector " + name + " that is off");
        Bench.until("only the detectors' thread is left", new Bench.Condition() {
            @Override
            public boolean holds() {
                return threads().size() == 1;
            }
        });
    }
}
