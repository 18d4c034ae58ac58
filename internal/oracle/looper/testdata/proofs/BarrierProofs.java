import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.IncidentListener;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** Sync barriers on the real main looper. */
public final class BarrierProofs implements IncidentListener {
    private final App app = new App(StartProofs.directory());
    private final List<Incident> incidents = new CopyOnWriteArrayList<Incident>();

    @Override
    public void incidentFound(Incident incident) {
        incidents.add(incident);
    }

    private void start() throws Exception {
        RecorderOptions config = new RecorderOptions().set("output", "none");
        Properties p = new Properties();
        p.setProperty("detectors", "sync-barrier");
        config.apply(p);
        Bench.check(config.problems().isEmpty(), config.problems().toString());
        Recorder.setIncidentListener(this);
        Bench.check(TracegenRuntime.start(app, config), "not recording");
        Bench.settle();
        Bench.until("the detector is on", new Bench.Condition() {
            @Override
            public boolean holds() {
                return "on".equals(Recorder.current().detectorStates().get("sync-barrier"));
            }
        });
    }

    private static void stop() throws Exception {
        TracegenRuntime.stop();
        Recorder.setIncidentListener(null);
        Bench.ended();
        Bench.until("the detectors' thread ends", new Bench.Condition() {
            @Override
            public boolean holds() {
                for (Thread t : Thread.getAllStackTraces().keySet()) {
                    if (t.getName().equals("tracegen-detectors")) {
                        return false;
                    }
                }
                return true;
            }
        });
    }

    private static MessageQueue queue() throws Exception {
        return Bench.queue(Looper.getMainLooper());
    }

    private static int postBarrier() throws Exception {
        Method m = MessageQueue.class.getDeclaredMethod("postSyncBarrier");
        m.setAccessible(true);
        return (Integer) m.invoke(queue());
    }

    private static void removeBarrier(int token) throws Exception {
        Method m = MessageQueue.class.getDeclaredMethod("removeSyncBarrier", int.class);
        m.setAccessible(true);
        m.invoke(queue(), token);
    }

    private void awaitIncidents(final int count) throws Exception {
        Bench.until(count + " incidents", new Bench.Condition() {
            @Override
            public boolean holds() {
                return incidents.size() >= count;
            }
        });
        Bench.equal(incidents.size(), count, "incidents");
    }

    public void aLeakedBarrierIsFound() throws Exception {
        start();
        try {
            int token = postBarrier();
            final CountDownLatch behind = new CountDownLatch(1);
            Bench.main.post(new Runnable() {
                @Override
                public void run() {
                    behind.countDown();
                }
            });
            // No synchronous message of the main thread runs until then.
            awaitIncidents(1);
            Incident i = incidents.get(0);
            Bench.equal(i.detector + " " + i.kind, "sync-barrier sync-barrier", "what");
            Bench.equal(i.facts.get("asynchronous-answered"), "5", "asynchronous probes");
            Bench.equal(i.facts.get("synchronous-answered"), "0", "synchronous probes");
            Bench.equal(i.thread(), "main", "thread");
            Bench.seen("a sync barrier that was not removed", "by probes");
            Bench.equal(i.endNanos, 0L, "the end");
            Bench.equal(behind.getCount(), 1L, "the barrier is gone");
            removeBarrier(token);
            awaitIncidents(2);
            Bench.equal(incidents.get(1).number, i.number, "number");
            Bench.check(incidents.get(1).endNanos > 0, "it has no end");
            Bench.await(behind);
        } finally {
            stop();
        }
    }

    public void aBarrierOfAFrameAndABusyThreadAreNone() throws Exception {
        start();
        try {
            // Until the detector has polled several times: a barrier for each 16 ms, and one message of 4 s.
            for (int k = 0; k < 200; k++) {
                int token = postBarrier();
                Thread.sleep(16);
                removeBarrier(token);
            }
            final int token = postBarrier();
            final CountDownLatch done = new CountDownLatch(1);
            // Asynchronous, as a frame: it runs for long, and removes the barrier.
            Message m = Message.obtain(Bench.main, new Runnable() {
                @Override
                public void run() {
                    try {
                        Thread.sleep(7000);
                        removeBarrier(token);
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    } finally {
                        done.countDown();
                    }
                }
            });
            m.setAsynchronous(true);
            Bench.main.sendMessage(m);
            Bench.await(done);
            Bench.drain();
        } finally {
            stop();
        }
        Bench.equal(incidents.size(), 0, "incidents");
    }

    public void afterTheEndNoMessageOfOursWaits() throws Exception {
        start();
        int token = postBarrier();
        try {
            awaitIncidents(1);
        } finally {
            TracegenRuntime.stop();
        }
        try {
            Bench.until("no message of ours waits", new Bench.Condition() {
                @Override
                public boolean holds() throws Exception {
                    return Bench.lockFree || count() == 0;
                }
            });
        } finally {
            removeBarrier(token);
            stop();
        }
    }

    /** Returns how many messages of the detectors wait. */
    private static int count() throws Exception {
        int n = 0;
        MessageQueue queue = queue();
        synchronized (queue) {
            Message m = (Message) Bench.field(queue, MessageQueue.class, "mMessages");
            for (; m != null; m = (Message) Bench.field(m, Message.class, "next")) {
                Runnable r = m.getCallback();
                n += r != null && r.getClass().getName().contains(".detector.") ? 1 : 0;
            }
        }
        return n;
    }

    public void aDetectorThatIsOffHasNoThread() throws Exception {
        Bench.check(TracegenRuntime.start(app, new RecorderOptions().set("output", "none")), "not recording");
        Bench.settle();
        Bench.check(!TracegenRuntime.detector("no-such", true), "there is a detector no-such");
        Bench.check(TracegenRuntime.detector("sync-barrier", false), "not switched off");
        Bench.settle();
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            Bench.check(!t.getName().equals("tracegen-detectors"), "a thread for nothing");
        }
        Bench.check(TracegenRuntime.detector("sync-barrier", true), "not switched on");
        Bench.until("it is on", new Bench.Condition() {
            @Override
            public boolean holds() {
                return "on".equals(Recorder.current().detectorStates().get("sync-barrier"));
            }
        });
        Bench.check(TracegenRuntime.detector("sync-barrier", false), "not switched off");
        Bench.until("it is off", new Bench.Condition() {
            @Override
            public boolean holds() {
                return "off".equals(Recorder.current().detectorStates().get("sync-barrier"));
            }
        });
        stop();
        Bench.check(!TracegenRuntime.detector("sync-barrier", true), "switched on without a recorder");
    }

    public void wrongNamesAndSettingsAreProblems() throws Exception {
        RecorderOptions config = new RecorderOptions();
        Properties p = new Properties();
        p.setProperty("detectors", "sync-barrier, sync-barier");
        p.setProperty("idle-handlers", "yes");
        p.setProperty("sync-barrier.colour", "red");
        p.setProperty("sync-barrier.poll-millis", "0");
        p.setProperty("no-such.poll-millis", "5");
        config.apply(p);
        Bench.equal(config.problems().size(), 5, "problems " + config.problems());
        String all = config.problems().toString();
        for (String part : new String[] {"there is no detector sync-barier", "want true or false",
            "sync-barrier.colour=red: unknown key", "1 to 86400000", "no-such.poll-millis=5: unknown key"}) {
            Bench.check(all.contains(part), "no " + part + " in " + all);
        }
    }
}
