package art;

import android.os.Looper;
import android.os.SystemClock;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.MappingInfo;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.io.File;
import java.util.Arrays;
import java.util.Random;

/**
 * Measures on ART what one entry and one exit cost: our runtime in one of its states, beside a plain ring and Matrix's
 * published class. All are measured in the same process, in alternating rounds, by the CPU time of the thread.
 *
 * <p>Arguments: the state, the number of rounds, of pairs in a round, and a folder for the recording. Prints lines
 * "row, tab, median of the rounds in nanoseconds", without what the loop itself takes.
 */
public final class Pairs {
    /** IDs from here on are those of methods that are let go. */
    private static final int LET_GO = 2048;

    private static int sum;

    private Pairs() {
    }

    /**
     * The least that a tracer does, in the way of Matrix: a ring of longs that one thread writes, and a clock that
     * another thread moves. No other thread can read it while it is written.
     */
    static final class Plain {
        private static final long[] RING = new long[1000000];
        private static final long MAIN = Thread.currentThread().getId();
        private static int at;
        private static boolean inside;
        static volatile long now;
        static volatile int status = 1;

        private Plain() {
        }

        static void i(int id) {
            if (status <= 0 || id >= 0xFFFFF) {
                return;
            }
            if (Thread.currentThread().getId() != MAIN) {
                return;
            }
            if (inside) {
                return;
            }
            inside = true;
            if (at >= RING.length) {
                at = 0;
            }
            put(id, at, true);
            ++at;
            inside = false;
        }

        static void o(int id) {
            if (status <= 0 || id >= 0xFFFFF) {
                return;
            }
            if (Thread.currentThread().getId() != MAIN) {
                return;
            }
            if (at >= RING.length) {
                at = 0;
            }
            put(id, at, false);
            ++at;
        }

        private static void put(int id, int index, boolean in) {
            long v = 0;
            if (in) {
                v |= 1L << 63;
            }
            v |= (long) id << 43;
            v |= now & 0x7FFFFFFFFFFL;
            RING[index] = v;
        }
    }

    private static int work(int k) {
        return k * 31 + 7;
    }

    private static void none(int n, int base) {
        for (int k = 0; k < n; k++) {
            sum += work((k & 1023) + base);
        }
    }

    private static void plain(int n, int base) {
        for (int k = 0; k < n; k++) {
            int id = (k & 1023) + base;
            Plain.i(id);
            sum += work(id);
            Plain.o(id);
        }
    }

    private static void matrix(int n, int base) {
        for (int k = 0; k < n; k++) {
            int id = (k & 1023) + base;
            com.tencent.matrix.trace.core.AppMethodBeat.i(id);
            sum += work(id);
            com.tencent.matrix.trace.core.AppMethodBeat.o(id);
        }
    }

    private static void ours(int n, int base) {
        for (int k = 0; k < n; k++) {
            int id = (k & 1023) + base;
            AppMethodBeat.i(id);
            sum += work(id);
            AppMethodBeat.o(id);
        }
    }

    private static void run(int row, int n, int base) {
        if (row == 0) {
            none(n, base);
        } else if (row == 1) {
            plain(n, base);
        } else if (row == 2) {
            matrix(n, base);
        } else {
            ours(n, base);
        }
    }

    /** Brings our runtime into a state. Returns the first ID to use. */
    private static int prepare(String state, String folder) throws Exception {
        if (state.equals("start")) {
            return 1;
        }
        RecorderOptions options = new RecorderOptions();
        options.set("output", new File(folder, "pairs.tgd").getPath());
        options.set("gate", "off");
        if (state.equals("gated") || state.equals("let-go")) {
            int[] ids = new int[1024];
            for (int k = 0; k < ids.length; k++) {
                ids[k] = LET_GO + k;
            }
            if (!Recorder.setGate(ids, MappingInfo.digest())) {
                throw new IllegalStateException("the gate is not of this mapping");
            }
        }
        Recorder recorder = Recorder.start(options);
        if (state.equals("off")) {
            recorder.stop();
        }
        Thread.sleep(300);
        return state.equals("let-go") ? LET_GO : 1;
    }

    /** Measures. */
    public static void main(String[] args) throws Exception {
        Looper.prepareMainLooper();
        String state = args[0];
        int rounds = Integer.parseInt(args[1]);
        int n = Integer.parseInt(args[2]);
        int base = prepare(state, args[3]);
        String[] rows = {"none", "plain", "matrix", "ours"};
        double[][] all = new double[rows.length][rounds];
        Random random = new Random(rounds);
        for (int round = -rounds / 4; round < rounds; round++) {
            int first = random.nextInt(rows.length);
            for (int k = 0; k < rows.length; k++) {
                int row = (first + k) % rows.length;
                if (!state.equals("start")) {
                    // Time to write: a ring that is full is another state.
                    Thread.sleep(20);
                }
                // A new time of the plain ring, as its clock would set it.
                Plain.now++;
                long begin = SystemClock.currentThreadTimeMicro();
                run(row, n, base);
                long end = SystemClock.currentThreadTimeMicro();
                if (round >= 0) {
                    all[row][round] = (end - begin) * 1000.0 / n;
                }
            }
        }
        double loop = 0;
        for (int row = 0; row < rows.length; row++) {
            Arrays.sort(all[row]);
            double median = all[row][rounds / 2];
            loop = row == 0 ? median : loop;
            System.out.println(rows[row] + "\t" + Math.round(100 * (row == 0 ? median : median - loop)) / 100.0);
        }
        System.out.println("status\t" + AppMethodBeat.status());
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
