import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Platform;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.ThreadStack;
import dev.tracegen.runtime.ThreadTrace;
import dev.tracegen.runtime.report.About;
import dev.tracegen.runtime.report.Fast;
import dev.tracegen.runtime.report.HttpUploader;
import dev.tracegen.runtime.report.Outbox;
import dev.tracegen.runtime.report.Report;
import dev.tracegen.runtime.report.Reporter;
import dev.tracegen.runtime.report.Sender;
import java.io.File;
import java.util.Random;

/**
 * A process that reports and sends, for the Go test that kills it. It runs on a plain JVM. Arguments: the directory of
 * the outbox, the address of the collector or {@code none}, a seed, and how many reports to write, 0 for no end. It
 * prints the ID of each report that is on the disk, and {@code drained} when all were sent.
 */
public final class SendKills {
    private static final class Clocks extends Platform {
        private final Thread main = Thread.currentThread();

        @Override
        public Thread mainThread() {
            return main;
        }

        @Override
        public void log(String line) {
            System.out.println("log " + line);
        }
    }

    public static void main(String[] args) throws Exception {
        final Random random = new Random(Long.parseLong(args[2]));
        final Platform clocks = new Clocks();
        final Outbox outbox = Fast.outbox(new File(args[0]), "kills");
        final Sender sender = args[1].equals("none") ? null
                : Fast.sender(outbox, new HttpUploader(args[1], "secret", false), clocks, random);
        About about = new About().set("package", "dev.tracegen.proofs").set("versionName", "1.0").set("sdk", 34)
                .set("versionCode", "7").set("manufacturer", "m\u00fc").set("device", "d\"\\\n").set("abi", "x86_64")
                .set("process", "kills").set("user", "0123456789abcdef").set("pid", 4);
        int wanted = Integer.parseInt(args[3]);
        final Recorder recorder = Recorder.start(new RecorderOptions().platform(clocks).slowMillis(1));
        final Reporter reporter = new Reporter(recorder, outbox, about).sender(sender);
        // The ID is printed when the report is on the disk: from then on it must not be lost.
        final StallListener stalls = new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                reporter.stallEnded(stall);
                System.out.println("written " + recorder.recordingId() + "-s" + stall.number + "-" + stall.threadIndex);
            }
        };
        final dev.tracegen.runtime.IncidentListener incidents = new dev.tracegen.runtime.IncidentListener() {
            @Override
            public void incidentFound(Incident incident) {
                reporter.incidentFound(incident);
                System.out.println("written " + recorder.recordingId() + "-i" + incident.number);
            }
        };
        Recorder.setReporter(stalls, incidents);
        System.out.println("begins");
        if (sender != null) {
            sender.start();
        }
        ThreadTrace trace = recorder.thread(Thread.currentThread());
        for (int k = 0; wanted == 0 || k < wanted; k++) {
            if (random.nextInt(4) == 0) {
                recorder.incident("hold", "hold").fact("hold-millis", k).fact("text", "\u4e2d\u6587 \u0001\uD800")
                        .stack(ThreadStack.of(Thread.currentThread(), clocks)).end(clocks.nanoTime()).report();
            } else {
                trace.messageBegin(">>>>> Dispatching to Handler (app.H) {1} null: " + k);
                AppMethodBeat.i(1 + random.nextInt(50));
                Thread.sleep(2 + random.nextInt(3));
                trace.messageEnd();
            }
        }
        if (wanted > 0 && sender != null || args.length > 4) {
            drain(new File(args[0]));
        }
        Thread.sleep(args.length > 4 ? 0 : 600000);
        System.exit(0);
    }

    /** Waits until no report is left. */
    private static void drain(File outbox) throws Exception {
        for (long begin = System.nanoTime(); System.nanoTime() - begin < 120000000000L; Thread.sleep(5)) {
            String[] names = outbox.list();
            int left = 0;
            for (String name : names == null ? new String[0] : names) {
                left += name.endsWith(".report") ? 1 : 0;
            }
            if (left == 0) {
                System.out.println("drained");
                return;
            }
        }
    }
}
