import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import app.Freeze;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;

/** Records a message of the real main looper that never ends. The Go test kills the process. */
public final class HangProofs {
    private static final class FreezeHandler extends Handler {
        FreezeHandler(Looper looper) {
            super(looper);
        }

        @Override
        public void handleMessage(Message m) {
            System.out.println("hangs " + System.nanoTime());
            System.out.flush();
            try {
                new Freeze().open();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public void aMessageThatHangs() throws Exception {
        App app = new App(new File(System.getProperty("java.io.tmpdir"), "proofs-hang"));
        Bench.check(app.files.mkdirs(), "no directory");
        Bench.check(TracegenRuntime.start(app, TracegenRuntime.options(app)), "not recording");
        Bench.settle();
        new FreezeHandler(Looper.getMainLooper()).sendEmptyMessage(5);
        Thread.sleep(600000);
    }
}
