import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;
import java.util.Map;

/** The detectors of the native library in an app that does not have it. */
public final class NativeProofs {
    private final App app = new App(new File(System.getProperty("java.io.tmpdir"), "proofs-native"));

    public void withoutTheLibraryTheyAreNotAvailable() throws Exception {
        Bench.check(TracegenRuntime.start(app, new RecorderOptions()), "not recording");
        String[] names = {"sigquit", "native-touch"};
        try {
            for (String name : names) {
                Bench.check(TracegenRuntime.detector(name, true), "no detector " + name);
                for (long begin = System.nanoTime(); !named(name); Thread.sleep(1)) {
                    Bench.check(System.nanoTime() - begin < 120000000000L, name + " has another state");
                }
            }
        } finally {
            TracegenRuntime.stop();
        }
    }

    private static boolean named(String name) {
        Recorder r = Recorder.current();
        Map<String, String> states = r == null ? null : r.detectorStates();
        return states != null && "not available: the native library is not in this app".equals(states.get(name));
    }
}
