import app.Load;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.util.concurrent.atomic.AtomicInteger;

/** The disk is full: the Go test limits the size of files that this process may write. */
public final class DiskProofs {
    public void stallsAreReportedWhenTheDiskIsFull() throws Exception {
        final AtomicInteger stalls = new AtomicInteger();
        Recorder.setStallListener(new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                stalls.incrementAndGet();
            }
        });
        App app = new App(StartProofs.directory());
        RecorderOptions config = new RecorderOptions().set("output", "recordings/app.tgd");
        config.everyRecord(true).gate(false).slowMillis(50);
        Bench.check(TracegenRuntime.start(app, config), "not recording");
        Bench.settle();
        for (int k = 1; k <= 4; k++) {
            final int want = k;
            Bench.stallUntil("stall " + want, new Runnable() {
                @Override
                public void run() {
                    new Load().frame(300000);
                    try {
                        Thread.sleep(60);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }, new Bench.Condition() {
                @Override
                public boolean holds() {
                    return stalls.get() >= want;
                }
            });
        }
        Bench.check(AppMethodBeat.status() > 0, "recording is off");
        TracegenRuntime.stop();
        Recorder.setStallListener(null);
        Bench.ended();
    }
}
