package art;

import android.os.Looper;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;

/**
 * Measures on ART how much memory the recorder holds after each step of a process. Arguments: {@code none} or
 * {@code recorder}; {@code main} or {@code all} for the threads; a folder for the recording. Prints lines "row, tab,
 * value": KiB of anonymous memory of the process. Without the recorder it takes the same steps, so that a reader knows
 * what they need themselves.
 */
public final class Memory {
    private static final int THREADS = 20;

    private static long before;

    private Memory() {
    }

    /** See the class. */
    public static void main(String[] args) throws Exception {
        boolean recorder = args[0].equals("recorder");
        Start.preload();
        Looper.prepareMainLooper();
        step("nothing");
        before = anonymous();
        if (recorder) {
            AppMethodBeat.i(1);
            AppMethodBeat.o(1);
            Properties p = new Properties();
            p.setProperty("threads", args[1]);
            if (!TracegenRuntime.start(new Start.App(new File(args[2])), new RecorderOptions().apply(p))) {
                throw new IllegalStateException("not recording");
            }
        }
        step("started");
        calls(recorder, 10000);
        step("20,000 records");
        CountDownLatch called = new CountDownLatch(THREADS);
        CountDownLatch end = new CountDownLatch(1);
        for (int k = 0; k < THREADS; k++) {
            thread(recorder, called, end).start();
        }
        called.await();
        step("20 threads");
        calls(recorder, 2000000);
        step("4,000,000 records");
        System.out.println("status\t" + AppMethodBeat.status());
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static Thread thread(final boolean recorder, final CountDownLatch called, final CountDownLatch end) {
        return new Thread() {
            @Override
            public void run() {
                calls(recorder, 500);
                called.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    // It ends.
                }
            }
        };
    }

    private static void calls(boolean recorder, int n) {
        for (int k = 0; k < n; k++) {
            if (recorder) {
                AppMethodBeat.i(1);
                AppMethodBeat.o(1);
            }
        }
    }

    private static void step(String row) throws Exception {
        // The recorder's threads may still hold copies.
        for (int k = 0; k < 5; k++) {
            System.gc();
            System.runFinalization();
            Thread.sleep(100);
        }
        System.out.println(row + "\t" + (anonymous() - before));
    }

    /** Returns the KiB of pages of the process that no file has. */
    private static long anonymous() throws Exception {
        String status = new String(Files.readAllBytes(new File("/proc/self/status").toPath()), StandardCharsets.UTF_8);
        long sum = 0;
        for (String line : status.split("\n")) {
            if (line.startsWith("RssAnon:") || line.startsWith("RssShmem:")) {
                sum += Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        return sum;
    }
}
