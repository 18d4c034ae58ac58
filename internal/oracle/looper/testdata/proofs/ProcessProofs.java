import app.Load;
import dev.tracegen.runtime.android.RuntimeConfig;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;

/** One of several processes of an app, which run at the same time and have the same directory. */
public final class ProcessProofs {
    public void everyProcessHasItsOwnFiles() throws Exception {
        App app = new App(new File(System.getProperty("proofs.shared")));
        for (String output : new String[] {null, "recordings/app.tgd"}) {
            RuntimeConfig config = new RuntimeConfig().output(output);
            config.recorder().everyRecord(true);
            Bench.check(TracegenRuntime.start(app, config), "not recording");
            Bench.settle();
            Bench.onMain(new Runnable() {
                @Override
                public void run() {
                    new Load().frame(1000);
                }
            });
            TracegenRuntime.stop();
            Bench.ended();
        }
    }
}
