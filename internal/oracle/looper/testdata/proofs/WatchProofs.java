import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.IncidentListener;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** The watchdog and the timer of messages. */
public final class WatchProofs {
    private static final String[] NAMES = {"watchdog", "anr"};

    private final Map<Long, Incident> found = Collections.synchronizedMap(new LinkedHashMap<Long, Incident>());

    private static Properties settings(String... more) {
        Properties p = new Properties();
        // The same detectors with shorter times: a proof need not wait for half a minute.
        p.setProperty("detectors", "watchdog,anr");
        p.setProperty("watchdog.poll-millis", "600");
        p.setProperty("anr.lag-millis", "1000");
        for (int k = 0; k < more.length; k += 2) {
            p.setProperty(more[k], more[k + 1]);
        }
        return p;
    }

    private void start(String output, Properties p) throws Exception {
        RecorderOptions config = new RecorderOptions().apply(p).set("output", output);
        Bench.equal(config.problems().toString(), "[]", "problems");
        Recorder.setIncidentListener(new IncidentListener() {
            @Override
            public void incidentFound(Incident i) {
                found.put(i.number, i);
            }
        });
        Bench.check(TracegenRuntime.start(new App(StartProofs.directory()), config), "not recording");
        Bench.settle();
        Bench.until("all detectors are on", new Bench.Condition() {
            @Override
            public boolean holds() {
                int on = 0;
                for (String state : Recorder.current().detectorStates().values()) {
                    on += state.equals("on") ? 1 : 0;
                }
                return on == NAMES.length;
            }
        });
    }

    private void stop() throws Exception {
        TracegenRuntime.stop();
        Bench.ended();
        Recorder.setIncidentListener(null);
    }

    private List<Incident> of(String detector, String kind) {
        List<Incident> all = new ArrayList<Incident>();
        synchronized (found) {
            for (Incident i : found.values()) {
                if (i.detector.equals(detector) && i.kind.equals(kind)) {
                    all.add(i);
                }
            }
        }
        return all;
    }

    private boolean ended(String detector, String kind) {
        List<Incident> all = of(detector, kind);
        return !all.isEmpty() && all.get(0).endNanos != 0;
    }

    /** What the main thread does until each detector but that of the system's limit has seen it. */
    static final class Slow extends Handler {
        private final WatchProofs proofs;

        Slow(WatchProofs proofs) {
            super(Looper.getMainLooper());
            this.proofs = proofs;
        }

        @Override
        public void handleMessage(Message m) {
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < 120000000000L && (proofs.of("watchdog", "missed-poll").isEmpty()
                    || proofs.of("anr", "lag").isEmpty() || proofs.of("anr", "anr").isEmpty())) {
                stall();
            }
        }

        void stall() {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public void everyDetectorFindsAStall() throws Exception {
        start("recordings/watch.tgd", settings());
        new Slow(this).sendEmptyMessage(42);
        Bench.until("all are ended", new Bench.Condition() {
            @Override
            public boolean holds() {
                return ended("watchdog", "missed-poll") && ended("anr", "lag") && ended("anr", "anr");
            }
        });
        Map<String, String> machine = Recorder.current().platform().machineFacts(Looper.getMainLooper().getThread());
        Bench.check(machine.containsKey("rss-kb"), "the state of the machine: " + machine);
        stop();
        for (Incident i : found.values()) {
            Bench.check(!i.stacks.isEmpty(), i.detector + " without a stack");
            Bench.check(i.wallNanos() > 0, i.detector + " lasted " + i.wallNanos());
        }
        Incident anr = of("anr", "anr").get(0);
        Bench.equal(anr.facts.get("limit-of"), "input", "the limit");
        Bench.check(anr.facts.get("confirmed-by").equals("none")
                || anr.facts.get("confirmed-by").equals("waiting-message"), "confirmed: " + anr.facts);
        Bench.check(of("anr", "lag").get(0).stacks.get(0).frames.toString().contains("WatchProofs$Slow.stall"),
                "the stack is that of the stall");
        Bench.check(of("anr", "lag").get(0).what.contains("WatchProofs$Slow"), "the message's name");
    }

    /** The detectors have their own times here: a busy machine must not make an idle Looper look like a stall. */
    public void noneReportsAnIdleLooper() throws Exception {
        start("none", new Properties() {
            private static final long serialVersionUID = 1;

            {
                setProperty("detectors", "watchdog,anr");
                setProperty("watchdog.poll-millis", "4000");
                setProperty("anr.lag-millis", "30000");
            }
        });
        // Nothing runs on the main thread meanwhile.
        Thread.sleep(9000);
        Bench.drain();
        stop();
        Bench.equal(found.size(), 0, "incidents of an idle Looper");
    }
}
