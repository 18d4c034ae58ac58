import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.util.Printer;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.LooperMonitor;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;

/** What the runtime allocates for messages that turn out to be fast. */
public final class CostProofs {
    private static final int MESSAGES = 1000;

    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** A handler that sends itself the next message, and counts what the main thread has allocated meanwhile. */
    private static final class Chain extends Handler {
        final CountDownLatch done = new CountDownLatch(1);
        private int left = MESSAGES;
        private long before;
        long bytes;

        Chain() {
            super(Looper.getMainLooper());
        }

        /**
         * Returns a text of one length. Android's own has the identity hash code, whose digits are fewer now and then,
         * and the Looper puts it into the texts that it allocates.
         */
        @Override
        public String toString() {
            return "Handler (CostProofs$Chain) {1234567}";
        }

        @Override
        public void handleMessage(Message message) {
            long now = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
            if (left == MESSAGES) {
                before = now;
            }
            if (left-- > 0) {
                sendEmptyMessage(0);
            } else {
                bytes = now - before;
                done.countDown();
            }
        }
    }

    /** Returns how many bytes the main thread allocates for each message at least. The first ones fill the history. */
    private static double bytes() throws Exception {
        long least = Long.MAX_VALUE;
        for (int k = 0; k < 12; k++) {
            Chain chain = new Chain();
            chain.sendEmptyMessage(0);
            Bench.await(chain.done);
            least = Math.min(least, chain.bytes);
        }
        return (double) least / MESSAGES;
    }

    private static String start() throws Exception {
        File dir = new File(System.getProperty("java.io.tmpdir"), "costs");
        Bench.check(TracegenRuntime.start(new App(dir), new RecorderOptions()), "not recording");
        // Until the recorder gets the messages. Before that, a monitor without listeners would be measured.
        Bench.settle();
        return LooperMonitor.of(Looper.getMainLooper()).source();
    }

    public void aFastMessageAllocatesNothing() throws Exception {
        double none = bytes();
        Looper.getMainLooper().setMessageLogging(new Printer() {
            @Override
            public void println(String line) {
            }
        });
        double texts = bytes();
        Looper.getMainLooper().setMessageLogging(null);
        String source = start();
        try {
            double ours = bytes();
            Bench.check(AppMethodBeat.status() > 0, "the recorder has turned itself off");
            Bench.check(!Recorder.current().thread(Looper.getMainLooper().getThread()).history().isEmpty(),
                    "the recorder got no message");
            Bench.measured("a message allocates " + none + " bytes, " + texts + " with a Printer that does nothing, "
                    + ours + " with our " + source);
            // A byte is for what the JVM may do now and then. With a Printer the Looper makes the same texts again, so
            // that fewer bytes would mean that ours is not installed.
            Bench.check(Math.abs(ours - texts) < 1, ours + " bytes for a message, want " + texts);
        } finally {
            TracegenRuntime.stop();
        }
    }
}
