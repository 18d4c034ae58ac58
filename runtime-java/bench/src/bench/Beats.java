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
 * published class. JMH's worker is the main thread for both, except in the benchmarks named other, chosen and all.
 *
 * <p>In the benchmarks whose names end with Body there is a call between the two that is not inlined and does nothing.
 * Without it the compiler can use for the exit what it has read for the entry. To compare with {@link #body}.
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

    private static void start(Thread main) {
        start(main, new RecorderOptions());
    }

    private static void start(final Thread main, RecorderOptions options) {
        Recorder.start(options.platform(new Platform() {
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

    /** Starts our recorder with another thread as the main one. */
    private static void startElsewhere(RecorderOptions options) throws InterruptedException {
        Thread main = new Thread() {
            @Override
            public void run() {
                ours();
            }
        };
        start(main, options);
        main.start();
        main.join();
    }

    /** Our recorder, with another thread as the main one. */
    @State(Scope.Thread)
    public static class OursOther {
        /** Starts it. */
        @Setup(Level.Trial)
        public void setUp() throws InterruptedException {
            startElsewhere(new RecorderOptions());
        }
    }

    /** Our recorder, with another thread as the main one, and threads=chosen; this one is not chosen. */
    @State(Scope.Thread)
    public static class OursNotChosen {
        /** Starts it. */
        @Setup(Level.Trial)
        public void setUp() throws InterruptedException {
            startElsewhere(new RecorderOptions().threads(RecorderOptions.THREADS_CHOSEN));
        }
    }

    /** The same; this thread is chosen. */
    @State(Scope.Thread)
    public static class OursChosen {
        /** Starts it. */
        @Setup(Level.Trial)
        public void setUp() throws InterruptedException {
            startElsewhere(new RecorderOptions().threads(RecorderOptions.THREADS_CHOSEN));
            Recorder.current().thread(Thread.currentThread());
        }
    }

    /** Our recorder, with another thread as the main one, and threads=all. */
    @State(Scope.Thread)
    public static class OursAll {
        /** Starts it. */
        @Setup(Level.Trial)
        public void setUp() throws InterruptedException {
            startElsewhere(new RecorderOptions().threads(RecorderOptions.THREADS_ALL));
        }
    }

    /** Our recorder, with this thread as the main one and the method switched off. */
    @State(Scope.Thread)
    public static class OursGated {
        /** Starts it and waits until the method is off. */
        @Setup(Level.Trial)
        public void setUp() throws InterruptedException {
            startGated(ID);
        }
    }

    /** Our recorder, with this thread as the main one and another method switched off. */
    @State(Scope.Thread)
    public static class OursOtherGated {
        /** Starts it and waits until the other method is off. */
        @Setup(Level.Trial)
        public void setUp() throws InterruptedException {
            startGated(ID + 1);
        }
    }

    private static void startGated(int id) throws InterruptedException {
        start(Thread.currentThread());
        Recorder.setGate(new int[] {id}, MappingInfo.digest());
        ThreadTrace trace = Recorder.current().thread(Thread.currentThread());
        long before;
        do {
            Thread.sleep(10);
            before = trace.mark();
            dev.tracegen.runtime.AppMethodBeat.i(id);
            dev.tracegen.runtime.AppMethodBeat.o(id);
        } while (trace.mark() > before);
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

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static void nothing() {
    }

    private static void oursBody() {
        dev.tracegen.runtime.AppMethodBeat.i(ID);
        nothing();
        dev.tracegen.runtime.AppMethodBeat.o(ID);
    }

    private static void matrixBody() {
        com.tencent.matrix.trace.core.AppMethodBeat.i(ID);
        nothing();
        com.tencent.matrix.trace.core.AppMethodBeat.o(ID);
    }

    /** JMH's own loop. */
    @Benchmark
    public void empty() {
    }

    /** The call in the benchmarks whose names end with Body. */
    @Benchmark
    public void body() {
        nothing();
    }

    /** The least that two calls can cost that leave other threads out: a static field and the thread are compared. */
    @Benchmark
    public void limit() {
        limit(Limit.thread);
        limit(Limit.thread);
    }

    /** As {@link #limit}, with the call. */
    @Benchmark
    public void limitBody() {
        limit(Limit.thread);
        nothing();
        limit(Limit.thread);
    }

    /** A thread that is never the current one. */
    private static final class Limit {
        static Thread thread = new Thread();
    }

    private static void limit(Thread other) {
        if (other == Thread.currentThread()) {
            nothing();
        }
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

    @Benchmark
    public void chosenOurs(OursChosen s) {
        ours();
    }

    @Benchmark
    public void notChosenOurs(OursNotChosen s) {
        ours();
    }

    @Benchmark
    public void allOurs(OursAll s) {
        ours();
    }

    @Benchmark
    public void otherGatedOurs(OursOtherGated s) {
        ours();
    }

    @Benchmark
    public void mainOursBody(OursMain s) {
        oursBody();
    }

    @Benchmark
    public void mainMatrixBody(MatrixMain s) {
        matrixBody();
    }

    @Benchmark
    public void otherOursBody(OursOther s) {
        oursBody();
    }

    @Benchmark
    public void otherMatrixBody(MatrixOther s) {
        matrixBody();
    }

    @Benchmark
    public void offOursBody(OursOff s) {
        oursBody();
    }

    @Benchmark
    public void offMatrixBody(MatrixOff s) {
        matrixBody();
    }
}
