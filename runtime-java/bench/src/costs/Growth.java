package costs;

import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.util.Arrays;

/**
 * Measures the first calls of a thread, for which its ring is made and replaced by larger ones, and later calls of the
 * same thread, which find a ring of its full size. The CPU time of new threads, one after the other.
 */
public final class Growth {
    private static final int WARM = 30;
    private static final int THREADS = 60;

    private Growth() {
    }

    /** See the class. */
    public static void main(String[] args) throws Exception {
        Recorder.start(new RecorderOptions().threads(RecorderOptions.THREADS_ALL));
        int[] calls = {500, 10000, 200000};
        double[][] nanos = new double[calls.length][THREADS];
        for (int k = -WARM; k < THREADS; k++) {
            final double[] of = new double[calls.length];
            Thread t = new Thread() {
                @Override
                public void run() {
                    for (int n = 0; n < calls.length; n++) {
                        of[n] = measure(calls[n]);
                    }
                }
            };
            t.start();
            t.join();
            for (int n = 0; n < calls.length && k >= 0; n++) {
                nanos[n][k] = of[n];
            }
        }
        String[] rows = {"the first 500 calls of a thread", "the next 10,000", "the next 200,000"};
        for (int n = 0; n < calls.length; n++) {
            Arrays.sort(nanos[n]);
            Phone.print(rows[n], nanos[n][THREADS / 2], "ns");
        }
        Runtime.getRuntime().halt(0);
    }

    private static double measure(int n) {
        long before = Phone.cpuNanos();
        for (int k = 0; k < n; k++) {
            AppMethodBeat.i(1);
            AppMethodBeat.o(1);
        }
        return (double) (Phone.cpuNanos() - before) / n;
    }
}
