import android.content.Context;
import android.os.Build;
import dev.tracegen.device.Device;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.IncidentListener;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import dev.tracegen.runtime.detector.Detector;
import dev.tracegen.runtime.detector.Detectors;
import dev.tracegen.runtime.detector.ThreadSchedule;
import java.io.File;
import java.lang.reflect.Method;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Results of Android's ProfilingManager, whose service is a stand-in. */
public final class ProfilingProofs {
    private final App app = new App(new File(System.getProperty("java.io.tmpdir"), "proofs-profiling"));
    private final LinkedBlockingQueue<Incident> found = new LinkedBlockingQueue<Incident>();

    private Detector detector(RecorderOptions settings) throws Exception {
        Method create = Class.forName("dev.tracegen.runtime.android.ProfilingResults").getDeclaredMethod("create",
                RecorderOptions.class, Context.class);
        create.setAccessible(true);
        return (Detector) create.invoke(null, settings, app);
    }

    private static void state(Recorder recorder, String want) throws Exception {
        for (long begin = System.nanoTime(); !want.equals(recorder.detectorStates().get("profiling")); Thread.sleep(1)) {
            Bench.check(System.nanoTime() - begin < 120000000000L,
                    "the state is " + recorder.detectorStates() + ", not " + want);
        }
    }

    private String next() throws Exception {
        Incident i = found.poll(120, TimeUnit.SECONDS);
        Bench.check(i != null, "no incident for two minutes");
        return i.detector + " " + i.kind + " " + i.thread() + " " + i.facts;
    }

    public void resultsAreIncidents() throws Exception {
        RecorderOptions settings = new RecorderOptions();
        settings.set("profiling.triggers", "anr, app-fully-drawn");
        Bench.check(TracegenRuntime.start(app, new RecorderOptions()), "not recording");
        Recorder recorder = Recorder.current();
        for (long begin = System.nanoTime(); recorder == null; recorder = Recorder.current()) {
            Bench.check(System.nanoTime() - begin < 120000000000L, "no recorder for two minutes");
            Thread.sleep(1);
        }
        Recorder.setIncidentListener(new IncidentListener() {
            @Override
            public void incidentFound(Incident incident) {
                if (incident.detector.equals("profiling")) {
                    found.add(incident);
                }
            }
        });
        Detectors detectors = new Detectors(recorder, null, new ThreadSchedule(recorder.platform()));
        try {
            detectors.add(detector(settings));
            detectors.set("profiling", true);
            if (Build.VERSION.SDK_INT < 35) {
                state(recorder, "not available: needs API 35");
                return;
            }
            state(recorder, "not available: the device has no ProfilingManager");
            Device.ProfilingService service = Device.profilingService(app);
            app.profiling = service.manager;
            // With a trigger for ANRs, Android 17 asks the ActivityManager, too.
            app.manager = Device.activityManager(app, new java.util.ArrayList<java.util.Map<String, Object>>());
            detectors.set("profiling", true);
            state(recorder, "on");
            Bench.check(service.calls.contains("generalListenerAdded")
                    && service.calls.contains("addProfilingTriggers trigger 2 trigger 1"), "calls: " + service.calls);
            service.send("files/profiling/profile_x_1.perfetto-trace", "x", 0, null, 2);
            String first = next();
            Bench.check(first.startsWith("profiling profile null {file=") && first.contains(
                    "files/profiling/profile_x_1.perfetto-trace, type=system-trace, tag=x, trigger=anr}"), first);
            service.send(null, null, 2, "too often", 0);
            Bench.equal(next(), "profiling profile null {error=rate-limit-process, error-message=too often}", "failure");
            detectors.set("profiling", false);
            state(recorder, "off");
            Bench.check(service.calls.contains("removeProfilingTriggers [2, 1]"), "calls: " + service.calls);
            service.send("files/profiling/late.perfetto-trace", "x", 0, null, 0);
            // Android 17 forgets its service, our stand-in, with the last listener.
            service = Device.profilingService(app);
            app.profiling = service.manager;
            detectors.set("profiling", true);
            state(recorder, "on");
            service.send("files/profiling/again.perfetto-stack-sample", "y", 0, null, 0);
            String again = next();
            Bench.check(again.contains("again.perfetto-stack-sample, type=stack-sampling, tag=y}"), again);
        } finally {
            detectors.stop();
            Recorder.setIncidentListener(null);
            TracegenRuntime.stop();
        }
    }

    public void anUnknownTriggerIsRefused() throws Exception {
        RecorderOptions settings = new RecorderOptions();
        settings.set("profiling.triggers", "arn");
        try {
            detector(settings);
        } catch (java.lang.reflect.InvocationTargetException e) {
            Bench.check(e.getCause().getMessage().startsWith("profiling.triggers = arn: "), e.getCause().getMessage());
            return;
        }
        Bench.check(false, "accepted");
    }
}
