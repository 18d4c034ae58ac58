package dev.tracegen.runtime.detector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.Await;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Platform;
import dev.tracegen.runtime.RecordCopy;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.ThreadStack;
import dev.tracegen.runtime.ThreadTrace;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Samples and records have one clock: a stack is taken within the call that it shows. On the machine's own clock. */
class TimeBaseTest {
    private static final int FIRST = 1;
    private static final int SECOND = 2;
    private static final long TICK_NANOS = 1000;

    /** The Looper of a thread that the test runs messages on itself. */
    private static final class Loop extends LoopAccess {
        final ThreadTrace trace;
        final Thread thread = Thread.currentThread();
        volatile long since;

        Loop(Recorder recorder) {
            trace = recorder.thread(thread);
        }

        @Override
        public ThreadTrace trace() {
            return trace;
        }

        @Override
        public Thread thread() {
            return thread;
        }

        @Override
        public boolean post(Runnable work, boolean asynchronous) {
            return false;
        }

        @Override
        public void remove(Runnable work) {
        }

        @Override
        public boolean canSeeQueue() {
            return false;
        }

        @Override
        public Barrier barrier() {
            return null;
        }

        @Override
        public boolean removeBarrier(int token) {
            return false;
        }

        @Override
        public long runningSince() {
            return since;
        }
    }

    /** Runs work on a thread of its own, when the test lets it. */
    private static final class Stepped extends Schedule {
        private final ExecutorService thread = Executors.newSingleThreadExecutor();
        private final ConcurrentLinkedQueue<Runnable> due = new ConcurrentLinkedQueue<Runnable>();
        private final Platform platform;

        Stepped(Platform platform) {
            this.platform = platform;
        }

        @Override
        public long nanoTime() {
            return platform.nanoTime();
        }

        @Override
        public Task at(long nanos, Runnable work) {
            // Early is no fault: the detector looks at the clock.
            due.add(work);
            return new Task() {
                @Override
                public void cancel() {
                    due.remove(work);
                }
            };
        }

        @Override
        public void stop() {
            thread.shutdown();
        }

        /** Runs what was added so far, and waits for it. */
        void step() throws Exception {
            thread.submit(() -> {
                for (int k = due.size(); k > 0; k--) {
                    due.remove().run();
                }
            }).get();
        }
    }

    private Stepped schedule;
    private final SteadySamples detector = SteadySamples.create(World.properties(
            "steady-samples.threshold-millis", "100", "steady-samples.interval-millis", "10"));

    private void first() throws Exception {
        AppMethodBeat.i(FIRST);
        int n = detector.samples();
        Await.until("samples in the first call", () -> {
            schedule.step();
            return detector.samples() >= n + 3;
        });
        AppMethodBeat.o(FIRST);
    }

    private void second() throws Exception {
        AppMethodBeat.i(SECOND);
        int n = detector.samples();
        Await.until("samples in the second call", () -> {
            schedule.step();
            return detector.samples() >= n + 3;
        });
        AppMethodBeat.o(SECOND);
    }

    @Test
    void aStackIsTakenWithinTheCallThatItShows() throws Exception {
        AtomicReference<Incident> found = new AtomicReference<Incident>();
        Recorder.setIncidentListener(found::set);
        Recorder recorder = Recorder.start(new RecorderOptions().tickNanos(TICK_NANOS).clockPeriodMillis(0)
                .threads(RecorderOptions.THREADS_CHOSEN));
        Loop loop = new Loop(recorder);
        schedule = new Stepped(recorder.platform());
        Detectors detectors = new Detectors(recorder, loop, schedule);
        detectors.add(detector);
        detectors.set(detector.name(), true);
        schedule.step();
        loop.trace.messageBegin(">>>>> Dispatching to Handler (app.H) {1a2b} null: 1");
        loop.since = loop.trace.history().get(loop.trace.history().size() - 1).beginNanos;
        first();
        second();
        RecordCopy copy = loop.trace.copy(0, Long.MAX_VALUE);
        loop.trace.messageEnd();
        long end = recorder.platform().nanoTime();
        long begin = loop.since;
        loop.since = 0;
        schedule.step();
        Await.until("the end was reported", () -> found.get() != null && found.get().endNanos != 0);
        detectors.stop();
        schedule.step();
        Await.stop(recorder);
        Recorder.setIncidentListener(null);
        assertEquals(begin, found.get().beginNanos);
        assertTrue(found.get().endNanos <= end, "the end is that of the message");
        check(found.get(), copy.records, begin);
    }

    /** Returns the time of the only record of a method's entry or exit, by the time of the message's begin. */
    private static long time(long[] records, int id, boolean entry, long begin) {
        long zero = 0;
        for (long r : records) {
            long ticks = r & (1L << 43) - 1;
            int method = (int) (r >>> 43 & 0xFFFFF);
            if (method == AppMethodBeat.METHOD_ID_DISPATCH) {
                zero = ticks;
            } else if (method == id && r < 0 == entry) {
                return begin + (ticks - zero) * TICK_NANOS;
            }
        }
        throw new IllegalStateException("no record of method " + id);
    }

    private static void check(Incident i, long[] records, long begin) {
        int[] checked = new int[3];
        for (ThreadStack t : i.stacks) {
            String frames = t.frames.toString();
            int id = frames.contains("TimeBaseTest.first(") ? FIRST
                    : frames.contains("TimeBaseTest.second(") ? SECOND : 0;
            if (id != 0) {
                long from = time(records, id, true, begin) - TICK_NANOS;
                long to = time(records, id, false, begin) + TICK_NANOS;
                assertTrue(t.nanos >= from && t.nanos <= to,
                        "method " + id + " at " + t.nanos + ", its call is from " + from + " to " + to);
                checked[id]++;
            }
        }
        assertTrue(checked[FIRST] > 0 && checked[SECOND] > 0, "stacks of both calls");
    }
}
