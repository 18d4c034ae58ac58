package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When steady samples are taken, by a clock that only the test moves: the recorder has no threads here. */
class SteadySamplesTest {
    private static final long MILLI = 1000000L;
    private static final long SECONDS = 1000;

    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();
    private Recorder recorder;
    private SteadySamples steady;

    /** A thread whose stack takes some time. */
    private final class Sampled extends Thread {
        State state = State.RUNNABLE;
        final long costMicros;

        /** Whether three of four stacks take 50 ms, because the thread gets no processor. */
        boolean busy;
        RuntimeException failure;
        int stacks;
        ThreadTrace trace;

        /** The samples that {@link #run} has seen. */
        final List<SteadySample> samples = new ArrayList<SteadySample>();

        Sampled(long micros) {
            costMicros = micros;
            trace = recorder.thread(this);
        }

        @Override
        public StackTraceElement[] getStackTrace() {
            platform.nanos.addAndGet((busy && stacks % 4 != 2 ? 50000 : costMicros) * 1000);
            stacks++;
            if (failure != null) {
                throw failure;
            }
            return new StackTraceElement[] {new StackTraceElement("a.B", "m" + stacks, null, 1)};
        }

        @Override
        public State getState() {
            return state;
        }

        void see() {
            SteadySample last = trace.sampled.lastStack;
            if (last != null && (samples.isEmpty() || samples.get(samples.size() - 1) != last)) {
                samples.add(last);
            }
        }
    }

    private void start(RecorderOptions options) {
        recorder = new Recorder(options.platform(platform).output(dir.resolve("r.tgd").toFile()).ringRecords(1024)
                .slowMillis(1 << 30).threads(RecorderOptions.THREADS_ALL));
        Recorder.current = recorder;
        Recorder.status = AppMethodBeat.STATUS_STARTED;
        recorder.fastPath.update();
        steady = new SteadySamples(recorder, new WriterQueue(recorder));
    }

    private static RecorderOptions all() {
        return new RecorderOptions().everyRecord(true);
    }

    @AfterEach
    void stop() {
        recorder.stop();
    }

    /** Lets time pass in steps of half a millisecond. */
    private void run(long millis, Sampled... threads) {
        for (long end = platform.nanoTime() + millis * MILLI; platform.nanoTime() < end;) {
            platform.nanos.addAndGet(MILLI / 2);
            steady.take();
            for (Sampled t : threads) {
                t.see();
            }
        }
    }

    @Test
    void aThreadIsSampledAboutFiftyTimesASecondWhileAMessageRuns() {
        start(all());
        Sampled t = new Sampled(20);
        run(10 * SECONDS, t);
        assertEquals(0, t.stacks, "samples of an idle thread");
        t.trace.messageBegin("m");
        run(10 * SECONDS, t);
        assertTrue(t.stacks > 300 && t.stacks < 700, t.stacks + " samples");
        t.trace.messageEnd();
        int before = t.stacks;
        run(10 * SECONDS, t);
        assertEquals(before, t.stacks);
    }

    @Test
    void manyShortMessagesAreSampledAsOneLongOneIs() {
        start(all());
        Sampled t = new Sampled(20);
        for (int k = 0; k < 2000; k++) {
            t.trace.messageBegin("m");
            run(5, t);
            t.trace.messageEnd();
            run(5, t);
        }
        // Half of the time.
        assertTrue(t.stacks > 250 && t.stacks < 900, t.stacks + " samples");
    }

    @Test
    void expensiveStacksTakeAtMostOnePercent() {
        start(all());
        Sampled t = new Sampled(1000);
        Sampled other = new Sampled(1000);
        t.trace.messageBegin("m");
        other.trace.messageBegin("m");
        run(100 * SECONDS, t, other);
        int stacks = t.stacks + other.stacks;
        assertTrue(stacks > 500 && stacks <= 1000, stacks + " samples of a millisecond in 100 s");
        assertTrue(Math.abs(t.stacks - other.stacks) < stacks / 3, "they have turns: " + t.stacks + " " + other.stacks);
    }

    @Test
    void aBusyMachineDoesNotCountAsCost() {
        start(all());
        Sampled t = new Sampled(20);
        t.busy = true;
        t.trace.messageBegin("m");
        for (int k = 0; k < 100; k++) {
            int before = t.stacks;
            run(2 * SECONDS, t);
            assertTrue(t.stacks > before + 10, t.stacks - before + " samples in 2 s");
        }
    }

    @Test
    void aStallAndMethodsThatAreOffAreSampledMoreOften() {
        start(all());
        Sampled t = new Sampled(10);
        t.trace.messageBegin("m");
        StallFacts facts = new StallFacts(0, -1, -1);
        facts.thresholdNanos = 20 * SECONDS * MILLI;
        t.trace.sampled.setFacts(facts);
        run(10 * SECONDS, t);
        int before = t.stacks;
        run(10 * SECONDS, t);
        assertTrue(t.stacks - before > 2 * before, before + " in the first half of the threshold, then "
                + (t.stacks - before));
        Sampled off = new Sampled(10);
        t.trace.messageEnd();
        off.trace.messageBegin("m");
        off.trace.existingRing().lastChange = new Gate.Change(null, 0, 0, new int[] {7});
        run(10 * SECONDS, off);
        assertTrue(off.stacks > 2 * before, off.stacks + " while a method is off");
    }

    @Test
    void theMomentsAreInStepWithNoProgram() {
        start(all());
        Sampled t = new Sampled(0);
        t.trace.messageBegin("m");
        run(20 * SECONDS, t);
        int[] quarters = new int[4];
        for (SteadySample s : t.samples) {
            quarters[(int) (s.nanos / MILLI % 20 / 5)]++;
        }
        for (int n : quarters) {
            assertTrue(n > t.samples.size() / 8, n + " of " + t.samples.size() + " in a quarter of each 20 ms");
        }
    }

    @Test
    void aThreadThatWaitsIsNotStoppedAgain() {
        start(all());
        Sampled t = new Sampled(100);
        t.trace.messageBegin("m");
        t.state = Thread.State.WAITING;
        platform.cpuOfOthers = 77;
        run(100 * SECONDS, t);
        assertEquals(1, t.stacks);
        assertTrue(t.samples.size() > 50 && t.samples.size() < 300, t.samples.size() + " samples in 100 s");
        assertSame(t.samples.get(0).stack, t.samples.get(t.samples.size() - 1).stack);
        platform.cpuOfOthers = 78;
        run(3 * SECONDS, t);
        assertEquals(2, t.stacks, "it ran meanwhile");
        t.trace.existingRing().put(Ring.ENTRY | 1L << Ring.ID_SHIFT);
        run(3 * SECONDS, t);
        assertEquals(3, t.stacks, "it made a record");
    }

    @Test
    void samplesThatFindNoRoomAreThinnedOutAndCounted() {
        start(all());
        Sampled t = new Sampled(10);
        t.trace.messageBegin("m");
        run(60 * SECONDS, t);
        long dropped = recorder.dropped().take()[Dropped.SAMPLES];
        assertTrue(dropped > 0 && dropped < t.samples.size() && t.samples.size() - dropped <= 256,
                dropped + " of " + t.samples.size());
    }

    @Test
    void onlyTheMainThreadIfSo() {
        start(all().set("stacks", "main"));
        Sampled t = new Sampled(10);
        t.trace.messageBegin("m");
        recorder.threads.main().messageBegin("m");
        run(SECONDS, t);
        assertEquals(0, t.stacks);
        assertFalse(recorder.threads.main().sampled.lastStack == null);
    }

    @Test
    void noneIfOff() {
        start(all().set("stacks", "off"));
        Sampled t = new Sampled(10);
        t.trace.messageBegin("m");
        run(SECONDS, t);
        assertEquals(0, t.stacks);
    }

    @Test
    void aSecurityManagerThatForbidsStacksEndsThem() {
        start(all());
        Sampled t = new Sampled(10);
        t.failure = new SecurityException("no");
        t.trace.messageBegin("m");
        run(SECONDS, t);
        assertEquals(1, t.stacks);
        assertTrue(platform.logged.contains("no steady samples are taken"), platform.logged);
        assertTrue(recorder.recording());
    }

    /** If only records of stalls are written, a short message costs nothing. */
    @Test
    void aMessageThatMayBecomeAStallIsSampledFromAnEighthOfTheThresholdOn() {
        start(new RecorderOptions());
        Sampled t = new Sampled(10);
        t.trace.messageBegin("m");
        StallFacts facts = new StallFacts(0, -1, -1);
        facts.thresholdNanos = Long.MAX_VALUE;
        t.trace.sampled.setFacts(facts);
        run(99, t);
        assertEquals(0, t.stacks);
        run(SECONDS, t);
        assertEquals(t.samples.size(), facts.steady.size());
        assertTrue(t.samples.size() > 20, t.samples.size() + " samples");
        run(100 * SECONDS, t);
        assertTrue(facts.steady.size() <= 256);
        // What is left is of the whole time.
        assertTrue(facts.steady.get(64).nanos - facts.steady.get(0).nanos > 5 * SECONDS * MILLI);
    }
}
