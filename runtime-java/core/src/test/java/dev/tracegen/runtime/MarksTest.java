package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Marks of coroutines: which are made, with which numbers, and that none is lost without being counted. */
class MarksTest {
    /** As Kotlin's, which suspended calls return. */
    private enum CoroutineSingletons {
        COROUTINE_SUSPENDED, UNDECIDED
    }

    @TempDir
    Path dir;

    private Recorder recorder;

    @AfterEach
    void stop() throws Exception {
        Gate.fromOutside = null;
        if (recorder != null) {
            Await.stop(recorder);
        }
    }

    private Path start(RecorderOptions options) {
        Path file = dir.resolve("marks.tgd");
        recorder = Recorder.start(options.platform(new VirtualPlatform()).everyRecord(true).set("gate", "off")
                .output(file.toFile()));
        return file;
    }

    private static String text(List<long[]> marks) {
        StringBuilder b = new StringBuilder();
        for (long[] m : marks) {
            b.append(m[0]).append("lcsrx".charAt((int) m[1])).append(m[2]).append(' ');
        }
        return b.toString().trim();
    }

    /** What the inserted calls do: a call that suspends, its resumption, and one whose results are no suspension. */
    @Test
    void marksHaveTheNumbersOfTheirRecords() throws Exception {
        Path file = start(new RecorderOptions());
        Object continuation = new Object();
        AppMethodBeat.i(9);
        AppMethodBeat.starts(continuation, 7);
        AppMethodBeat.i(1);
        AppMethodBeat.continues(continuation, 1);
        AppMethodBeat.o(CoroutineSingletons.COROUTINE_SUSPENDED, 1);
        AppMethodBeat.o(9);
        AppMethodBeat.resumes(continuation, 1);
        AppMethodBeat.i(1);
        AppMethodBeat.o("COROUTINE_SUSPENDED", 1);
        AppMethodBeat.i(1);
        AppMethodBeat.o(CoroutineSingletons.UNDECIDED, 1);
        AppMethodBeat.i(1);
        AppMethodBeat.o(null, 1);
        for (int id : new int[] {0, -1, AppMethodBeat.METHOD_ID_DISPATCH, Integer.MAX_VALUE}) {
            AppMethodBeat.starts(continuation, id);
        }
        Await.stop(recorder);
        assertEquals("+9 +1 -1 -9 +1 -1 +1 -1 +1 -1", WrittenChunks.records(file, 0));
        List<long[]> marks = WrittenChunks.marks(file, 0);
        assertEquals("1s7 2c1 2x1 4r1", text(marks));
        assertEquals(System.identityHashCode(continuation), marks.get(0)[3]);
        assertEquals(System.identityHashCode(continuation), marks.get(3)[3]);
        assertEquals(0, marks.get(2)[3]);
    }

    /** A call that goes on elsewhere must not seem to do so before it was suspended. */
    @Test
    void theTimesOfSuspensionsAndResumptionsAreExact() throws Exception {
        VirtualPlatform platform = new VirtualPlatform();
        recorder = Recorder.start(new RecorderOptions().platform(platform).everyRecord(true).tickNanos(1000000)
                .clockPeriodMillis(1000000).output(dir.resolve("exact.tgd").toFile()));
        AppMethodBeat.i(1);
        platform.pass(7);
        AppMethodBeat.o(CoroutineSingletons.COROUTINE_SUSPENDED, 1);
        platform.pass(30);
        AppMethodBeat.resumes(this, 1);
        AppMethodBeat.i(1);
        platform.pass(500);
        AppMethodBeat.o("a result", 1);
        long[] records = recorder.threads.main().copy(0, Long.MAX_VALUE).records;
        long first = records[0] & Ring.TIME_MASK;
        assertEquals("7 37 37", String.format("%d %d %d", (records[1] & Ring.TIME_MASK) - first,
                (records[2] & Ring.TIME_MASK) - first, (records[3] & Ring.TIME_MASK) - first));
    }

    /**
     * If records are written only of stalls, so are marks: those of a stall come before its records, and no others. The
     * thread keeps a bounded number; if some of a stall are gone, a mark says so.
     */
    @Test
    void aStallHasItsMarks() throws Exception {
        VirtualPlatform platform = new VirtualPlatform();
        Path file = dir.resolve("stalls.tgd");
        recorder = Recorder.start(new RecorderOptions().platform(platform).output(file.toFile()).ringRecords(65536));
        ThreadTrace main = recorder.thread(Thread.currentThread());
        resumptions(main, 3, 0, platform);
        resumptions(main, 2, 800, platform);
        Await.until("the first stall", () -> WrittenChunks.of(file, RecordingWriter.STALL).size() == 1);
        assertEquals("#8 +1048574 +1 -1 +1 -1 -1048574", WrittenChunks.records(file, 0));
        assertEquals("9r1 10x1 11r1 12x1", text(WrittenChunks.marks(file, 0)));
        resumptions(main, 5000, 800, platform);
        Await.until("the second stall", () -> WrittenChunks.of(file, RecordingWriter.STALL).size() == 2);
        String marks = text(WrittenChunks.marks(file, 0));
        // The first record of the second stall is the 14th. The last 4,096 marks are those of 2,048 calls.
        assertTrue(marks.startsWith("9r1 10x1 11r1 12x1 14l1 5919r1 5920x1 "), marks.substring(0, 60));
        assertTrue(marks.endsWith(" 10013r1 10014x1"), marks);
        Await.stop(recorder);
    }

    private static void resumptions(ThreadTrace main, int n, long millis, VirtualPlatform platform)
            throws Exception {
        main.messageBegin("m");
        for (int k = 0; k < n; k++) {
            AppMethodBeat.resumes(main, 1);
            AppMethodBeat.i(1);
            AppMethodBeat.o(CoroutineSingletons.COROUTINE_SUSPENDED, 1);
            if (k % 50 == 0) {
                platform.awaitCheck();
            }
        }
        platform.pass(millis);
        main.messageEnd();
    }

    /** A call that is left out has no marks, and the calls around it have theirs. */
    @Test
    void methodsThatAreOffHaveNoMarks() throws Exception {
        Path file = start(new RecorderOptions());
        Object continuation = new Object();
        AppMethodBeat.i(1);
        Recorder.setGate(new int[] {1}, MappingInfo.digest());
        Await.until("the method is off", () -> recorder.fastPath.gateRequest() != null);
        // This call has begun before, so its exit is recorded.
        AppMethodBeat.continues(continuation, 1);
        AppMethodBeat.i(2);
        AppMethodBeat.resumes(continuation, 1);
        AppMethodBeat.i(1);
        AppMethodBeat.continues(continuation, 1);
        AppMethodBeat.o(CoroutineSingletons.COROUTINE_SUSPENDED, 1);
        AppMethodBeat.o(CoroutineSingletons.COROUTINE_SUSPENDED, 2);
        AppMethodBeat.o(CoroutineSingletons.COROUTINE_SUSPENDED, 1);
        Await.stop(recorder);
        assertEquals("+1 +2 -2 -1", WrittenChunks.records(file, 0));
        assertEquals("1c1 2x2 3x1", text(WrittenChunks.marks(file, 0)));
    }

    @Test
    void threadsThatAreNotRecordedHaveNone() throws Exception {
        Path file = start(new RecorderOptions());
        elsewhere(() -> {
            AppMethodBeat.starts(this, 1);
            AppMethodBeat.resumes(this, 1);
            AppMethodBeat.i(1);
            AppMethodBeat.o(CoroutineSingletons.COROUTINE_SUSPENDED, 1);
        });
        assertEquals(1, recorder.threads.all().size());
        Await.stop(recorder);
        AppMethodBeat.starts(this, 1);
        assertEquals("", text(WrittenChunks.marks(file, 0)));
        assertNull(recorder.threads.main().existingMarks());
    }

    /** While a window is open, no record has a number. Behind it a mark says how many were lost. */
    @Test
    void marksInAWindowAreCounted() throws Exception {
        VirtualPlatform platform = new VirtualPlatform();
        CountDownLatch go = new CountDownLatch(1);
        AtomicReference<Thread> held = new AtomicReference<Thread>();
        platform.checked = () -> {
            held.set(Thread.currentThread());
            Await.open(go);
        };
        Path file = dir.resolve("window.tgd");
        recorder = Recorder.start(new RecorderOptions().platform(platform).everyRecord(true).set("gate", "off")
                .ringRecords(1024).output(file.toFile()));
        Await.until("the sampler stands still", () -> held.get() != null);
        AppMethodBeat.i(1);
        AppMethodBeat.starts(this, 7);
        for (int k = 0; k < 1000; k++) {
            AppMethodBeat.i(2);
            AppMethodBeat.starts(this, 8);
            AppMethodBeat.o(2);
        }
        go.countDown();
        Ring ring = recorder.threads.main().existingRing();
        Await.until("the window is closed", () -> ring.reserve() >= 0);
        AppMethodBeat.starts(this, 9);
        AppMethodBeat.o(1);
        Await.stop(recorder);
        List<long[]> marks = WrittenChunks.marks(file, 0);
        int seen = 0;
        long lost = 0;
        for (long[] m : marks) {
            seen += m[1] == Marks.STARTS && m[2] == 8 ? 1 : 0;
            lost += m[1] == Marks.LOST ? m[2] : 0;
        }
        assertTrue(lost > 400, lost + " lost");
        assertEquals(1000, seen + lost);
        assertEquals("1s7 2s8", text(marks.subList(0, 2)));
        assertEquals(9, marks.get(marks.size() - 1)[2]);
        assertEquals(Marks.LOST, marks.get(marks.size() - 2)[1]);
        String[] records = WrittenChunks.records(file, 0).split(" ");
        assertEquals(records.length - 1, marks.get(marks.size() - 1)[0], "the last record is the exit behind the mark");
    }

    /** Marks for which there was no memory are counted, also behind the last one. */
    @Test
    void marksWithoutMemoryAreCounted() throws Exception {
        Path file = start(new RecorderOptions());
        MemoryBudget memory = recorder.rings().memory;
        AppMethodBeat.i(1);
        long rest = memory.bytes() - memory.used();
        memory.takeAlways(rest);
        AppMethodBeat.starts(this, 7);
        AppMethodBeat.i(2);
        AppMethodBeat.starts(this, 7);
        memory.give(rest);
        AppMethodBeat.starts(this, 8);
        AppMethodBeat.o(2);
        for (int k = 0; k < 60; k++) {
            AppMethodBeat.starts(this, 9);
        }
        Await.stop(recorder);
        List<long[]> marks = WrittenChunks.marks(file, 0);
        assertEquals("1l2 2s8 3s9", text(marks.subList(0, 3)));
        assertEquals(62, marks.size());
    }

    @Test
    void aThreadThatMakesNoMoreMarksSaysHowManyItLost() throws Exception {
        Path file = start(new RecorderOptions());
        AppMethodBeat.i(1);
        MemoryBudget memory = recorder.rings().memory;
        memory.takeAlways(memory.bytes());
        AppMethodBeat.starts(this, 7);
        AppMethodBeat.starts(this, 7);
        AppMethodBeat.o(1);
        memory.give(memory.bytes());
        Await.stop(recorder);
        assertEquals("1l2", text(WrittenChunks.marks(file, 0)));
    }

    /** While nothing is recorded there are no marks. The next recording has its own. */
    @Test
    void theNextRecordingBeginsWithoutMarks() throws Exception {
        start(new RecorderOptions());
        AppMethodBeat.i(1);
        AppMethodBeat.starts(this, 7);
        Await.stop(recorder);
        AppMethodBeat.starts(this, 8);
        AppMethodBeat.o(CoroutineSingletons.COROUTINE_SUSPENDED, 1);
        Path file = dir.resolve("next.tgd");
        recorder = Recorder.start(new RecorderOptions().platform(new VirtualPlatform()).everyRecord(true)
                .output(file.toFile()));
        AppMethodBeat.resumes(this, 2);
        AppMethodBeat.i(2);
        Await.stop(recorder);
        assertEquals("0r2", text(WrittenChunks.marks(file, 0)));
    }

    private static void elsewhere(Runnable work) throws Exception {
        Thread t = new Thread(work, "elsewhere");
        t.start();
        t.join();
    }

    /** A thread of the model: what it does, and the marks that it makes, as they must be in the file. */
    private static final class Program extends Thread {
        final Random random;
        final boolean slowly;
        final List<String> made = new ArrayList<String>();
        final Recorder recorder;
        volatile ThreadTrace trace;
        private long records;
        private int depth;

        Program(int number, Recorder recorder, boolean slowly) {
            super("program " + number);
            this.random = new Random(number);
            this.recorder = recorder;
            this.slowly = slowly;
        }

        private void note(int kind, int id, Object continuation) {
            made.add(records + " " + kind + " " + id + " " + (continuation == null ? 0
                    : System.identityHashCode(continuation)));
        }

        private void call(int calls) {
            int id = 1 + random.nextInt(50);
            Object continuation = new Object();
            if (random.nextBoolean()) {
                note(Marks.RESUMES, id, continuation);
                AppMethodBeat.resumes(continuation, id);
            }
            AppMethodBeat.i(id);
            records++;
            depth++;
            if (random.nextBoolean()) {
                note(Marks.CONTINUES, id, continuation);
                AppMethodBeat.continues(continuation, id);
            }
            for (int k = 0; k < calls && depth < 20; k++) {
                call(random.nextInt(3));
            }
            boolean suspends = random.nextBoolean();
            if (suspends) {
                note(Marks.SUSPENDS, id, null);
            }
            AppMethodBeat.o(suspends ? CoroutineSingletons.COROUTINE_SUSPENDED : this, id);
            records++;
            depth--;
        }

        @Override
        public void run() {
            for (int k = 0; k < 1000; k++) {
                call(random.nextInt(4));
                if (trace == null) {
                    trace = recorder.threads.existing(this);
                }
                // A thread that waits for the sampler from time to time loses nothing.
                while (slowly && records - trace.existingRing().copied() > 1000) {
                    Thread.yield();
                }
            }
        }
    }

    private Program[] run(Recorder recorder, int count, boolean slowly) throws Exception {
        Program[] programs = new Program[count];
        for (int k = 0; k < programs.length; k++) {
            programs[k] = new Program(k, recorder, slowly);
            programs[k].start();
        }
        for (Program p : programs) {
            p.join();
        }
        return programs;
    }

    /** Threads that do not flood the recorder, while others take all processors. */
    @Test
    void everyMarkOfThreadsIsThere() throws Exception {
        Path file = start(new RecorderOptions().threads(RecorderOptions.THREADS_ALL));
        final CountDownLatch end = new CountDownLatch(1);
        for (int k = 0; k < 4; k++) {
            Thread busy = new Thread(() -> {
                while (end.getCount() > 0) {
                    // It takes a processor.
                }
            }, "busy");
            busy.setDaemon(true);
            busy.start();
        }
        Program[] programs = run(recorder, 4, true);
        end.countDown();
        Await.stop(recorder);
        for (Program p : programs) {
            List<String> got = new ArrayList<String>();
            for (long[] m : WrittenChunks.marks(file, p.trace.index)) {
                got.add(m[0] + " " + m[1] + " " + m[2] + " " + m[3]);
            }
            assertEquals(p.made, got);
        }
    }

    /** Threads that flood the recorder lose records and marks: each mark belongs to its record, and all are counted. */
    @Test
    void noMarkOfThreadsThatFloodIsWrong() throws Exception {
        Path file = start(new RecorderOptions().threads(RecorderOptions.THREADS_ALL).threadRingRecords(1024)
                .memory(1 << 20));
        Program[] programs = run(recorder, 4, false);
        Await.stop(recorder);
        long lost = 0;
        for (Program p : programs) {
            String[] records = WrittenChunks.records(file, p.trace.index).split(" ");
            int marks = 0;
            int open = 0;
            int number = 0;
            List<Integer> stack = new ArrayList<Integer>();
            for (long[] m : WrittenChunks.marks(file, p.trace.index)) {
                for (; number < m[0]; number++) {
                    if (records[number].startsWith("+")) {
                        stack.add(Integer.parseInt(records[number].substring(1)));
                    } else {
                        int id = -Integer.parseInt(records[number]);
                        while (stack.remove(stack.size() - 1) != id) {
                            open++;
                        }
                    }
                }
                if (m[1] == Marks.LOST) {
                    lost += m[2];
                    marks += (int) m[2];
                    continue;
                }
                marks++;
                if (m[1] == Marks.CONTINUES) {
                    assertEquals(m[2], (int) stack.get(stack.size() - 1), p + " at " + number);
                } else {
                    assertEquals((m[1] == Marks.RESUMES ? "+" : "-") + m[2], records[number], p + " at " + number);
                }
            }
            assertEquals(0, open);
            assertEquals(p.made.size(), marks, p + " made so many");
        }
        System.out.println("measured: marks that were lost by four threads that flood: " + lost);
    }

    /** Invariant: a mark allocates nothing, once a thread has made some. */
    @Test
    void marksAllocateNothing() throws Exception {
        start(new RecorderOptions());
        Object continuation = new Object();
        assertEquals(0, FastPathTest.allocated(() -> {
            for (int k = 0; k < 20; k++) {
                AppMethodBeat.resumes(continuation, 1);
                AppMethodBeat.i(1);
                AppMethodBeat.continues(continuation, 1);
                AppMethodBeat.starts(continuation, 2);
                AppMethodBeat.o(CoroutineSingletons.COROUTINE_SUSPENDED, 1);
            }
        }));
    }

    /** Invariant: nothing that the runtime keeps refers to a continuation. */
    @Test
    void noContinuationIsKept() throws Exception {
        start(new RecorderOptions());
        List<WeakReference<Object>> all = new ArrayList<WeakReference<Object>>();
        for (int k = 0; k < 100; k++) {
            Object continuation = new Object();
            all.add(new WeakReference<Object>(continuation));
            AppMethodBeat.starts(continuation, 2);
            AppMethodBeat.resumes(continuation, 1);
            AppMethodBeat.i(1);
            AppMethodBeat.continues(continuation, 1);
            AppMethodBeat.o(CoroutineSingletons.COROUTINE_SUSPENDED, 1);
        }
        Await.until("all are collected", () -> {
            Await.collect();
            return all.stream().allMatch(r -> r.get() == null);
        });
    }

    /** Threads by thousands have marks as long as there is memory, and give it back. */
    @Test
    void theMemoryOfMarksIsBounded() throws Exception {
        Path file = start(new RecorderOptions().threads(RecorderOptions.THREADS_ALL).memory(1 << 20));
        AppMethodBeat.i(1);
        MemoryBudget memory = recorder.rings().memory;
        long before = memory.used();
        Thread[] threads = new Thread[10000];
        long most = 0;
        for (int k = 0; k < threads.length; k++) {
            threads[k] = new Thread(() -> {
                AppMethodBeat.i(1);
                for (int n = 0; n < 70; n++) {
                    AppMethodBeat.starts(this, 2);
                }
                AppMethodBeat.o(1);
            });
            threads[k].start();
            if (k >= 50) {
                threads[k - 50].join();
            }
            most = Math.max(most, memory.used());
        }
        for (Thread t : threads) {
            t.join();
        }
        assertTrue(most <= memory.bytes(), most + " bytes");
        Await.until("the threads are forgotten", () -> recorder.threads.all().size() == 1);
        Await.until("everything is written", () -> memory.used() == before);
        Await.stop(recorder);
        // A thread may get its memory late: what it did before has no records, and no marks.
        long[] made = new long[threads.length + 1];
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, RecordingWriter.COROUTINES)) {
            int thread = (int) c.uv();
            c.uv();
            for (long n = c.uv(); n > 0; n--) {
                c.sv();
                made[thread] += c.u8() == Marks.LOST ? c.uv() : c.uv() / 2;
                c.u32();
            }
        }
        int all = 0;
        for (long n : made) {
            assertTrue(n <= 70, n + " marks of a thread");
            all += n == 70 ? 1 : 0;
        }
        assertTrue(all > 0, "no thread has all its marks, or a count of those that were lost");
    }
}
