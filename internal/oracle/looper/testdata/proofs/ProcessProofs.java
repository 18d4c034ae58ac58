import app.Load;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;

/** One of several processes of an app, which run at the same time and have the same directory. */
public final class ProcessProofs {
    public void everyProcessHasItsOwnFiles() throws Exception {
        App app = new App(new File(System.getProperty("proofs.shared")));
        for (String output : new String[] {null, "recordings/app.tgd"}) {
            RecorderOptions config = new RecorderOptions().set("output", output);
            config.everyRecord(true);
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
