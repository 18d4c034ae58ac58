import android.content.Context;
import android.os.Looper;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.IncidentListener;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.ThreadTrace;
import dev.tracegen.runtime.android.RuntimeConfig;
import dev.tracegen.runtime.android.TracegenRuntime;
import dev.tracegen.runtime.detector.Detector;
import dev.tracegen.runtime.detector.Detectors;
import dev.tracegen.runtime.detector.LoopAccess;
import dev.tracegen.runtime.detector.ThreadSchedule;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;

/** A session with one detector that is on, and the incidents that it reports. */
final class Switched implements IncidentListener {
    final Object session;
    private final Detectors detectors;
    private final String name;
    private final List<Incident> found = new ArrayList<Incident>();

    /** The main thread, as far as the detectors here need it. */
    private static final class MainLoop extends LoopAccess {
        private final Recorder recorder;

        MainLoop(Recorder recorder) {
            this.recorder = recorder;
        }

        @Override
        public ThreadTrace trace() {
            return recorder.thread(thread());
        }

        @Override
        public Thread thread() {
            return Looper.getMainLooper().getThread();
        }

        @Override
        public boolean post(Runnable work, boolean asynchronous) {
            return Bench.main.post(work);
        }

        @Override
        public void remove(Runnable work) {
            Bench.main.removeCallbacks(work);
        }

        @Override
        public boolean canSeeQueue() {
            return false;
        }

        @Override
        public Barrier barrier() {
            return null;
        }

        @Override
        public boolean removeBarrier(int token) {
            return false;
        }

        @Override
        public long runningSince() {
            try {
                Method m = ThreadTrace.class.getDeclaredMethod("runningSince");
                m.setAccessible(true);
                return (Long) m.invoke(trace());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Switches a detector on in the session that runs. */
    Switched(Context context, String name, Properties settings) throws Exception {
        this.name = name;
        Field current = TracegenRuntime.class.getDeclaredField("CURRENT");
        current.setAccessible(true);
        session = ((AtomicReference<?>) current.get(null)).get();
        Recorder recorder = Recorder.current();
        Recorder.setIncidentListener(this);
        detectors = new Detectors(recorder, new MainLoop(recorder), new ThreadSchedule(recorder.platform()));
        Object activities = Bench.field(session, session.getClass(), "activities");
        Detector d;
        if (name.equals("frames")) {
            Object times = Bench.field(session, session.getClass(), "frames");
            d = (Detector) call("FrameSources", "create", settings, context, times, activities);
        } else {
            d = (Detector) call("StartupSource", "create", settings, context, activities);
        }
        detectors.add(d);
        on(true);
    }

    /** Starts the runtime and switches a detector on. */
    static Switched start(App app, String name, RuntimeConfig config) throws Exception {
        Bench.check(TracegenRuntime.start(app, config), "not recording");
        Bench.settle();
        Recorder.current().foreground(true);
        return new Switched(app, name, new Properties());
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
    void on(final boolean value) throws Exception {
        detectors.set(name, value);
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
        detectors.stop();
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
