package bench;

import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Platform;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.io.File;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures an entry and an exit of a suspend function that returns, and of one that is suspended, beside those of other
 * methods, while every record is written. Each measurement is of 1200 calls, so that no buffer is full, with a pause in
 * between in which the recorder takes all. A suspension has three marks: the continuation is made, the call is
 * suspended, and it is resumed.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 200, batchSize = 1)
@Measurement(iterations = 100, batchSize = 1)
public class Suspends {
    /** How many calls one measurement has. */
    private static final int CALLS = 1200;

    private static final int ID = 47110;

    /** As Kotlin's. */
    enum Singletons {
        COROUTINE_SUSPENDED, UNDECIDED
    }

    /** Our recorder, with this thread as the main one, and what the calls return. */
    @State(Scope.Thread)
    public static class Every {
        private File file;
        private Object returned = "a result";
        private Object other = Singletons.UNDECIDED;
        private Object suspended = Singletons.COROUTINE_SUSPENDED;
        private final Object continuation = new Object();

        /** Starts it. */
        @Setup(Level.Trial)
        public void setUp() throws IOException {
            final Thread main = Thread.currentThread();
            file = File.createTempFile("suspends", ".tgd");
            Recorder.start(new RecorderOptions().everyRecord(true).set("gate", "off").output(file)
                    .platform(new Platform() {
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

        /** Waits until the sampler has taken all. */
        @Setup(Level.Iteration)
        public void pause() throws InterruptedException {
            Thread.sleep(30);
        }

        /** Stops it. */
        @TearDown(Level.Trial)
        public void tearDown() {
            Recorder.current().stop();
            file.delete();
        }
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static void nothing() {
    }

    /** A method that is no suspend function. */
    @Benchmark
    public void plain(Every s) {
        for (int k = 0; k < CALLS; k++) {
            AppMethodBeat.i(ID);
            nothing();
            AppMethodBeat.o(ID);
        }
    }

    /** The same with the code of exact exits. */
    @Benchmark
    public void exact(Every s) {
        for (int k = 0; k < CALLS; k++) {
            AppMethodBeat.i(ID);
            try {
                nothing();
            } catch (Throwable e) {
                AppMethodBeat.o(ID);
                throw e;
            }
            AppMethodBeat.o(ID);
        }
    }

    /** A suspend function that returns. */
    @Benchmark
    public void returns(Every s) {
        for (int k = 0; k < CALLS; k++) {
            AppMethodBeat.i(ID);
            nothing();
            AppMethodBeat.o(s.returned, ID);
        }
    }

    /** A suspend function that returns a constant of another enum. */
    @Benchmark
    public void returnsEnum(Every s) {
        for (int k = 0; k < CALLS; k++) {
            AppMethodBeat.i(ID);
            nothing();
            AppMethodBeat.o(s.other, ID);
        }
    }

    /** A call that is suspended, without its continuation: one mark. */
    @Benchmark
    public void suspends(Every s) {
        for (int k = 0; k < CALLS; k++) {
            AppMethodBeat.i(ID);
            nothing();
            AppMethodBeat.o(s.suspended, ID);
        }
    }

    /** All that is recorded of a suspension: three marks, two entries and exits. */
    @Benchmark
    public void suspendsAndResumes(Every s) {
        for (int k = 0; k < CALLS; k++) {
            AppMethodBeat.i(ID);
            AppMethodBeat.continues(s.continuation, ID);
            nothing();
            AppMethodBeat.o(s.suspended, ID);
            AppMethodBeat.resumes(s.continuation, ID);
            AppMethodBeat.i(ID);
            nothing();
            AppMethodBeat.o(s.returned, ID);
        }
    }
}
