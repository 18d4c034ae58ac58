import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import android.util.Printer;
import dev.tracegen.device.HiddenApi;
import dev.tracegen.runtime.MessageRecord;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.LooperMonitor;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.util.Properties;

/** What the runtime does with public API only. Runs in a process of its own: what is looked up is looked up once. */
public final class PublicApiProofs {
    private final App app = new App(StartProofs.directory());

    private static final class Other implements Printer {
        volatile int lines;

        @Override
        public void println(String line) {
            lines++;
        }
    }

    static RecorderOptions config() {
        Properties p = new Properties();
        p.setProperty("hidden-api", "false");
        RecorderOptions config = new RecorderOptions().set("output", "none").apply(p);
        Bench.equal(config.problems().size(), 0, "problems of the configuration");
        return config;
    }

    private void start() throws Exception {
        Bench.check(TracegenRuntime.start(app, config()), "not recording");
        Bench.settle();
        // A printer is set in a message of its own, which is repeated if a released printer was there.
        Bench.drain();
        Bench.drain();
    }

    private static String source() {
        return LooperMonitor.of(Looper.getMainLooper()).source();
    }

    private static int seen(int what) {
        int n = 0;
        for (MessageRecord r : Recorder.current().thread(Looper.getMainLooper().getThread()).recent()) {
            n += r.description.contains(Handler.class.getName()) && r.description.endsWith(": " + what) ? 1 : 0;
        }
        return n;
    }

    private static void noLookups() {
        Bench.equal(HiddenApi.lookups().toString(), "[]", "hidden members that were looked up");
    }

    public void messagesAreSeenByThePrinter() throws Exception {
        for (int k = 0; k < 3; k++) {
            start();
            Bench.equal(source(), "printer", "source");
            Bench.check(!LooperMonitor.of(Looper.getMainLooper()).reportsIdleHandlers(), "idle handlers");
            Bench.check(!LooperMonitor.of(Looper.getMainLooper()).detectsReplacement(), "detects a replacement");
            Bench.main.sendEmptyMessage(70 + k);
            Bench.drain();
            Bench.equal(seen(70 + k), 1, "messages");
            Bench.check(Bench.printer() != null, "no printer");
            TracegenRuntime.stop();
            if (k == 1) {
                // The last printer is still there, and removes itself with the next message.
                continue;
            }
            Bench.drain();
            Bench.equal(Bench.printer(), null, "the printer after the stop");
        }
        noLookups();
    }

    public void aPrinterOfOtherCodeStays() throws Exception {
        Other other = new Other();
        Looper.getMainLooper().setMessageLogging(other);
        start();
        Bench.check(Bench.printer() == other, "another printer is replaced");
        Bench.equal(source(), "none", "source");
        Bench.check(other.lines > 0, "the other printer is not called");
        TracegenRuntime.stop();
        Bench.drain();
        Bench.check(Bench.printer() == other, "after the stop, the printer is another");
        noLookups();
    }

    public void aPrinterThatCameLaterStays() throws Exception {
        start();
        final Printer ours = Bench.printer();
        Printer chained = new Printer() {
            @Override
            public void println(String line) {
                ours.println(line);
            }
        };
        Looper.getMainLooper().setMessageLogging(chained);
        Bench.main.sendEmptyMessage(75);
        Bench.drain();
        Bench.equal(seen(75), 1, "messages");
        TracegenRuntime.stop();
        Bench.drain();
        Bench.check(Bench.printer() == chained, "after the stop, the printer of other code is gone");
        noLookups();
    }

    public void aHandlerThreadIsWatched() throws Exception {
        start();
        HandlerThread thread = new HandlerThread("watched");
        thread.start();
        LooperMonitor monitor = LooperMonitor.of(thread.getLooper(), new RecorderOptions().set("hidden-api", "false"));
        MonitorProofs.Log log = new MonitorProofs.Log();
        monitor.add(log);
        Handler handler = new Handler(thread.getLooper());
        Bench.drain(handler);
        Bench.equal(monitor.source(), "printer", "source");
        handler.sendEmptyMessage(76);
        Bench.drain(handler);
        Bench.equal(log.count("-" + Handler.class.getName() + " null 76"), 1, "messages");
        monitor.release();
        thread.quit();
        TracegenRuntime.stop();
        Bench.drain();
        noLookups();
    }
}
