import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.IncidentListener;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/** A session with one detector that is on, and the incidents that it reports. */
final class Switched implements IncidentListener {
    /** The session, for what only the runtime itself can see. */
    Object session;
    private final String name;
    private final List<Incident> found = new ArrayList<Incident>();

    private Switched(String name) {
        this.name = name;
    }

    /** Starts the runtime in a message of the main thread, with a detector that is on, in the foreground. */
    static Switched start(final App app, String name, final RecorderOptions config) throws Exception {
        Switched s = new Switched(name);
        Recorder.setIncidentListener(s);
        config.set("detectors", name);
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                Bench.check(TracegenRuntime.start(app, config), "not recording");
                app.created();
            }
        });
        Bench.settle();
        Field current = TracegenRuntime.class.getDeclaredField("CURRENT");
        current.setAccessible(true);
        s.session = ((AtomicReference<?>) current.get(null)).get();
        s.await(true);
        Recorder.current().foreground(true);
        return s;
    }

    /** Calls a static method of a class of the runtime by its name. */
    static Object call(String type, String name, Object... args) throws Exception {
        for (Method m : Class.forName("dev.tracegen.runtime.android." + type).getDeclaredMethods()) {
            if (m.getName().equals(name) && m.getParameterTypes().length == args.length) {
                m.setAccessible(true);
                return m.invoke(null, args);
            }
        }
        throw new NoSuchMethodException(name);
    }

    /** Switches the detector, and returns when that has happened, on the main thread too. */
    void on(boolean value) throws Exception {
        Bench.check(TracegenRuntime.detector(name, value), "the detector " + name + " is not switched");
        await(value);
    }

    private void await(final boolean value) throws Exception {
        Bench.until(name + " is switched", new Bench.Condition() {
            @Override
            public boolean holds() {
                return (value ? "on" : "off").equals(Recorder.current().detectorStates().get(name));
            }
        });
        Bench.drain();
    }

    /** Ends the session. */
    void stop() throws Exception {
        TracegenRuntime.stop();
        Bench.ended();
        Recorder.setIncidentListener(null);
    }

    @Override
    public synchronized void incidentFound(Incident i) {
        found.add(i);
    }

    synchronized List<Incident> of(String kind) {
        List<Incident> some = new ArrayList<Incident>();
        for (Incident i : found) {
            if (i.kind.equals(kind)) {
                some.add(i);
            }
        }
        return some;
    }

    /** Waits for an incident of a kind and returns the last one. */
    Incident await(final String kind) throws Exception {
        Bench.until("an incident " + kind, new Bench.Condition() {
            @Override
            public boolean holds() {
                return !of(kind).isEmpty();
            }
        });
        List<Incident> all = of(kind);
        return all.get(all.size() - 1);
    }
}
