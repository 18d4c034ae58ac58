package bench;

import dev.tracegen.runtime.MappingInfo;
import dev.tracegen.runtime.Platform;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.ThreadTrace;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Measures one entry and one exit with a constant ID, as in an instrumented method: our runtime beside Matrix's
 * published class. JMH's worker is the main thread for both, except in the benchmarks named other.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Beats {
    private static final int ID = 47110;

    /** The cost of an empty static call that is not inlined. No call that does something costs less. */
    public static class Floor {
        @CompilerControl(CompilerControl.Mode.DONT_INLINE)
        static void i(int id) {
        }

        @CompilerControl(CompilerControl.Mode.DONT_INLINE)
        static void o(int id) {
        }
    }

    private static void start(final Thread main) {
        Recorder.start(new RecorderOptions().platform(new Platform() {
            @Override
            public long nanoTime() {
                return System.nanoTime();
            }

            @Override
            public long wallMillis() {
                return System.currentTimeMillis();
            }

            @Override
            public Thread mainThread() {
                return main;
            }

            @Override
            public void log(String line) {
                System.err.println(line);
            }
        }));
    }

    /** Our recorder, with this thread as the main one. */
    @State(Scope.Thread)
    public static class OursMain {
        /** Starts it. */
        @Setup(Level.Trial)
        public void setUp() {
            start(Thread.currentThread());
        }
    }

    /** Our recorder, with another thread as the main one. */
    @State(Scope.Thread)
    public static class OursOther {
        /** Starts it. */
        @Setup(Level.Trial)
        public void setUp() throws InterruptedException {
            Thread main = new Thread() {
                @Override
                public void run() {
                    ours();
                }
            };
            start(main);
            main.start();
            main.join();
        }
    }

    /** Our recorder, with this thread as the main one and the method switched off. */
    @State(Scope.Thread)
    public static class OursGated {
        /** Starts it and waits until the method is off. */
        @Setup(Level.Trial)
        public void setUp() throws InterruptedException {
            start(Thread.currentThread());
            Recorder.setGate(new int[] {ID}, MappingInfo.digest());
            ThreadTrace trace = Recorder.current().thread(Thread.currentThread());
            long before;
            do {
                Thread.sleep(10);
                before = trace.mark();
                ours();
            } while (trace.mark() > before);
        }
    }

    /** Our recorder, stopped. */
    @State(Scope.Thread)
    public static class OursOff {
        /** Starts and stops it. */
        @Setup(Level.Trial)
        public void setUp() {
            start(Thread.currentThread());
            Recorder.current().stop();
        }
    }

    /** Matrix, with this thread as the main one. */
    @State(Scope.Thread)
    public static class MatrixMain {
        /** Starts it. */
        @Setup(Level.Trial)
        public void setUp() {
            android.os.Looper.main = Thread.currentThread();
            com.tencent.matrix.trace.core.AppMethodBeat.i(1);
            com.tencent.matrix.trace.core.AppMethodBeat.o(1);
            com.tencent.matrix.trace.core.AppMethodBeat.getInstance().onStart();
        }
    }

    /** Matrix, with another thread as the main one. */
    @State(Scope.Thread)
    public static class MatrixOther {
        /** Starts it. */
        @Setup(Level.Trial)
        public void setUp() {
            android.os.Looper.main = new Thread();
            com.tencent.matrix.trace.core.AppMethodBeat.i(1);
            com.tencent.matrix.trace.core.AppMethodBeat.getInstance().onStart();
        }
    }

    /** Matrix, stopped. */
    @State(Scope.Thread)
    public static class MatrixOff {
        /** Starts and stops it. */
        @Setup(Level.Trial)
        public void setUp() {
            new MatrixMain().setUp();
            com.tencent.matrix.trace.core.AppMethodBeat.getInstance().onStop();
        }
    }

    private static void ours() {
        dev.tracegen.runtime.AppMethodBeat.i(ID);
        dev.tracegen.runtime.AppMethodBeat.o(ID);
    }

    private static void matrix() {
        com.tencent.matrix.trace.core.AppMethodBeat.i(ID);
        com.tencent.matrix.trace.core.AppMethodBeat.o(ID);
    }

    @Benchmark
    public void floor() {
        Floor.i(ID);
        Floor.o(ID);
    }

    @Benchmark
    public void mainOurs(OursMain s) {
        ours();
    }

    @Benchmark
    public void mainMatrix(MatrixMain s) {
        matrix();
    }

    @Benchmark
    public void otherOurs(OursOther s) {
        ours();
    }

    @Benchmark
    public void otherMatrix(MatrixOther s) {
        matrix();
    }

    @Benchmark
    public void gatedOurs(OursGated s) {
        ours();
    }

    @Benchmark
    public void offOurs(OursOff s) {
        ours();
    }

    @Benchmark
    public void offMatrix(MatrixOff s) {
        matrix();
    }
}
