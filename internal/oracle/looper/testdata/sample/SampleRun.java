import android.os.HandlerThread;
import java.io.File;
import sample.Sample;

/** Runs the sample app on the main looper and checks what it reports. */
final class SampleRun {
    private SampleRun() {
    }

    /**
     * Runs it.
     *
     * @param calls the depths of the calls of the slow message; the first is the message itself
     */
    static void run(boolean recorded, String calls) throws Exception {
        File dir = new File(System.getProperty("java.io.tmpdir"), "sample-" + System.nanoTime());
        Bench.check(dir.mkdirs(), "no directory");
        final Sample app = new Sample();
        App context = new App(dir);
        Bench.equal(app.start(context), recorded, "started");
        Bench.settle();
        final HandlerThread other = new HandlerThread("other");
        other.start();
        Bench.onMain(new Work(app));
        for (int k = 0; recorded && app.slow.isEmpty() && k < 1000; k++) {
            Thread.sleep(10);
        }
        final String[] told = new String[1];
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                told[0] = app.ask(other);
            }
        });
        Bench.equal(told[0], "1048574 " + recorded + " " + recorded + " 16", "what it was told");
        Bench.equal(app.slow.size(), recorded ? 1 : 0, "slow messages");
        Bench.equal(app.slow.toString(), recorded ? "[main " + calls + "]" : "[]", "the calls of the slow message");
        Bench.equal(app.dispatches > 0, recorded, "messages heard of");
        // The second by Matrix's name.
        Bench.equal(app.messages > 0, recorded, "messages remembered");
        Bench.equal(app.records > 0, recorded, "records");
        app.stop();
        other.quit();
        Bench.equal(new File(context.getNoBackupFilesDir(), "sample.tgd").exists(), recorded, "there is a recording");
        Bench.equal(Bench.printer(), null, "the printer after the end");
    }

    private static final class Work implements Runnable {
        private final Sample app;

        Work(Sample app) {
            this.app = app;
        }

        @Override
        public void run() {
            try {
                app.work();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
