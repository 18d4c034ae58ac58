package costs;

import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.lang.management.ManagementFactory;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;

/**
 * Measures how much of the heap is held after each step of a process. Arguments: the natives, and {@code ours} or
 * {@code matrix}.
 */
public final class Memory {
    private static final int THREADS = 20;

    private static long before;

    private Memory() {
    }

    /** See the class. */
    public static void main(final String[] args) throws Exception {
        Phone.boot(args[0]);
        Phone.onMain(new Phone.Work() {
            @Override
            public void run() throws Exception {
                before = used();
                print("nothing");
                if (args[1].equals("ours")) {
                    ours();
                } else {
                    com.tencent.matrix.trace.core.AppMethodBeat.i(1);
                    print("Matrix, after the first call");
                    com.tencent.matrix.trace.core.AppMethodBeat.getInstance().onStart();
                    print("Matrix, after onStart");
                }
            }
        });
    }

    private static void ours() throws Exception {
        AppMethodBeat.i(1);
        AppMethodBeat.o(1);
        print("after the first call");
        Properties p = new Properties();
        p.setProperty("threads", "all");
        TracegenRuntime.start(new Phone.App(), new RecorderOptions().apply(p));
        print("after start");
        calls(10000);
        print("after 20,000 records of the main thread");
        calls(2000000);
        print("after 4,000,000 records of the main thread");
        long main = used();
        CountDownLatch called = new CountDownLatch(THREADS);
        CountDownLatch end = new CountDownLatch(1);
        Thread[] threads = new Thread[THREADS];
        for (int k = 0; k < THREADS; k++) {
            threads[k] = thread(called, end);
            threads[k].start();
        }
        called.await();
        print("for each other thread with 1,000 records", (used() - main) / THREADS);
        Phone.checkRecording();
        end.countDown();
        for (Thread t : threads) {
            t.join();
        }
        TracegenRuntime.stop();
        print("after stop");
    }

    private static Thread thread(final CountDownLatch called, final CountDownLatch end) {
        return new Thread() {
            @Override
            public void run() {
                calls(500);
                called.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    // It ends.
                }
            }
        };
    }

    private static void calls(int n) {
        for (int k = 0; k < n; k++) {
            AppMethodBeat.i(1);
            AppMethodBeat.o(1);
        }
    }

    /** Returns how many bytes of the heap are in use, once the recorder's threads have no more copies of records. */
    private static long used() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int k = 0; k < 5; k++) {
            System.gc();
            least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
            Thread.sleep(100);
        }
        return least;
    }

    private static void print(String row) throws InterruptedException {
        print(row, used() - before);
    }

    private static void print(String row, long bytes) {
        Phone.print(row, bytes / 1024.0, "KB");
    }
}
