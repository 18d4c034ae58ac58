package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Time in which the process did not run is no stall. */
class SuspensionsTest {
    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();
    private final BlockingQueue<Stall> found = new LinkedBlockingQueue<Stall>();
    private Recorder recorder;
    private ThreadTrace main;
    private Path file;

    private void start() {
        platform.processCpu.set(0);
        file = dir.resolve("r.tgd");
        recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024).output(file.toFile()));
        main = recorder.thread(Thread.currentThread());
        Recorder.setStallListener(new StallListener() {
            @Override
            public void stallEnded(Stall stall) {
                found.add(stall);
            }
        });
    }

    @AfterEach
    void stop() throws Exception {
        Recorder.setStallListener(null);
        if (recorder != null) {
            Await.stop(recorder);
        }
    }

    /** Lets time pass in which the process works. */
    private void work(long millis) {
        platform.processCpu.addAndGet(millis * 1000000L);
        platform.pass(millis);
    }

    private void realStall() throws Exception {
        main.messageBegin("method 7");
        work(900);
        main.messageEnd();
        Await.until("the real stall is found", () -> !found.isEmpty());
        assertEquals("method 7", found.peek().description);
        assertEquals(900000000L, found.peek().wallNanos);
        assertEquals(0, found.remove().suspendedNanos);
    }

    /** Returns the times of the file as BEGIN+LENGTH/CAUSE in milliseconds since a moment. */
    private String times(long since) throws Exception {
        StringBuilder b = new StringBuilder();
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, RecordingWriter.SUSPENDED)) {
            for (long n = c.uv(); n > 0; n--) {
                long begin = c.sv();
                long end = c.sv();
                b.append(b.length() == 0 ? "" : " ").append((begin - since) / 1000000).append('+')
                        .append((end - begin) / 1000000).append('/').append(c.u8());
            }
        }
        return b.toString();
    }

    @Test
    void aStoppedProcessDoesNotStall() throws Exception {
        start();
        main.messageBegin("frozen");
        platform.awaitCheck();
        long begin = platform.nanoTime();
        platform.pass(5000);
        main.messageEnd();
        platform.awaitCheck();
        assertTrue(found.isEmpty());
        realStall();
        Await.stop(recorder);
        assertEquals(1, WrittenChunks.of(file, RecordingWriter.STALL).size());
        // The sampler wanted to pause for 87 ms. Whether the process ran in these is not known.
        assertEquals("87+4913/1", times(begin).replace("0+5000/1", "87+4913/1"));
        List<WrittenChunks.Chunk> all = WrittenChunks.of(file, 0);
        int at = 0;
        while (all.get(at).type != RecordingWriter.SUSPENDED) {
            assertTrue(all.get(at).type != RecordingWriter.STALL, "the stall comes first");
            at++;
        }
    }

    /** On a machine with very much to do, a process that gets no processor uses no CPU time either, and stalls. */
    @Test
    void aStarvedProcessStalls() throws Exception {
        platform.processorWait.set(1);
        start();
        main.messageBegin("starved");
        platform.awaitCheck();
        platform.processorWait.addAndGet(4000000000L);
        platform.pass(5000);
        main.messageEnd();
        Await.until("the stall is found", () -> !found.isEmpty());
        assertEquals(5000000000L, found.peek().wallNanos);
        assertEquals(0, found.remove().suspendedNanos);
    }

    @Test
    void aStallThatWasStoppedInBetweenSaysForHowLong() throws Exception {
        start();
        main.messageBegin("both");
        platform.awaitCheck();
        platform.pass(5000);
        platform.awaitCheck();
        assertEquals(0, WrittenChunks.of(file, RecordingWriter.ALIVE).size());
        for (int k = 0; k < 4; k++) {
            work(200);
            platform.awaitCheck();
        }
        assertTrue(main.sampled.facts.passed, "the age without the stopped time reaches the threshold");
        main.messageEnd();
        Await.until("the stall is found", () -> !found.isEmpty());
        Stall stall = found.remove();
        assertEquals(5800000000L, stall.wallNanos);
        assertTrue(stall.suspendedNanos >= 4913000000L && stall.suspendedNanos <= 5000000000L,
                "suspended for " + stall.suspendedNanos);
    }

    @Test
    void aLateSamplerAloneIsNoStoppedProcess() throws Exception {
        start();
        main.messageBegin("m");
        platform.awaitCheck();
        work(5000);
        main.messageEnd();
        Await.until("the stall is found", () -> !found.isEmpty());
        assertEquals(0, found.remove().suspendedNanos);
        Await.stop(recorder);
        assertEquals("", times(0));
    }

    /** The sampler sleeps when the message begins, is woken, and the process is stopped before it gets its turn. */
    @Test
    void aProcessThatIsStoppedAtTheBeginOfAMessageDoesNotStall() throws Exception {
        platform.processCpu.set(0);
        Suspensions s = new Suspensions(platform);
        s.look();
        platform.pass(60000);
        s.mark(platform.nanoTime(), 0);
        long begin = platform.nanoTime();
        platform.pass(3000);
        s.look();
        assertEquals(3000000000L, s.within(begin, platform.nanoTime()));
        assertEquals(0, s.within(begin - 60000000000L, begin));
        assertEquals(1000000000L, s.within(begin + 2000000000L, begin + 9000000000L));
    }

    @Test
    void anUnknownCpuTimeIsNoSign() {
        Suspensions s = new Suspensions(platform);
        s.look();
        platform.pass(60000);
        s.afterPause(0);
        assertEquals(0, s.within(0, Long.MAX_VALUE));
    }

    @Test
    void manyTimesAreForgottenFromTheFirst() {
        platform.processCpu.set(0);
        Suspensions s = new Suspensions(platform);
        s.look();
        long begin = platform.nanoTime();
        for (int k = 0; k < 300; k++) {
            platform.pass(1000);
            s.look();
            work(100);
            s.afterPause(0);
        }
        assertEquals(256 * 1000000000L, s.within(begin, platform.nanoTime()));
        assertEquals(300, s.found().size());
    }

    @Test
    void nothingStallsUnderADebugger() throws Exception {
        start();
        platform.debugger = true;
        main.messageBegin("debugged");
        platform.awaitCheck();
        long begin = platform.nanoTime();
        for (int k = 0; k < 5; k++) {
            work(1000);
            platform.awaitCheck();
        }
        main.messageEnd();
        platform.awaitCheck();
        assertTrue(found.isEmpty());
        platform.debugger = false;
        platform.awaitCheck();
        realStall();
        Await.stop(recorder);
        assertEquals(1, WrittenChunks.of(file, RecordingWriter.STALL).size());
        long sum = 0;
        long last = 0;
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, RecordingWriter.SUSPENDED)) {
            for (long n = c.uv(); n > 0; n--) {
                long from = c.sv();
                last = c.sv();
                sum += last - from;
                assertEquals(Suspensions.DEBUGGED, c.u8());
            }
        }
        assertTrue(sum >= 5000000000L && last >= begin + 5000000000L, "debugged for " + sum);
    }

    /** The child process of the test below. */
    static final class Child {
        private static volatile int sum;

        private Child() {
        }

        public static void main(String[] args) throws Exception {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
            final BlockingQueue<Stall> found = new LinkedBlockingQueue<Stall>();
            Recorder recorder = Recorder.start(new RecorderOptions().slowMillis(Integer.parseInt(args[0]))
                    .output(Paths.get(args[1]).toFile()));
            Recorder.setStallListener(new StallListener() {
                @Override
                public void stallEnded(Stall stall) {
                    found.add(stall);
                }
            });
            ThreadTrace trace = recorder.thread(Thread.currentThread());
            // What happens to the process before the sampler has begun is not known.
            long cpu = 2 * Long.parseLong(args[0]) * 1000000L;
            stall(trace, "method 6", cpu);
            await(found, "method 6");
            System.out.println(java.lang.management.ManagementFactory.getRuntimeMXBean().getName().split("@")[0]);
            String line = "";
            for (int tries = 0; "".equals(line); tries++) {
                trace.messageBegin("try " + tries);
                long begin = System.nanoTime();
                System.out.println("begun");
                line = in.readLine();
                trace.messageEnd();
                System.out.println(System.nanoTime() - begin);
            }
            stall(trace, "method 7", cpu);
            System.out.println(await(found, "method 7"));
            recorder.stop();
        }

        /** Makes a stall that is one on any machine: it needs more CPU time than the threshold. */
        private static void stall(ThreadTrace trace, String text, long cpu) {
            trace.messageBegin(text);
            java.lang.management.ThreadMXBean threads = java.lang.management.ManagementFactory.getThreadMXBean();
            for (long from = threads.getCurrentThreadCpuTime(); threads.getCurrentThreadCpuTime() - from < cpu;) {
                sum++;
            }
            trace.messageEnd();
        }

        /** Returns the texts of the stalls that are found, up to one with this text. */
        private static List<String> await(BlockingQueue<Stall> found, String text) throws Exception {
            List<String> texts = new ArrayList<String>();
            do {
                Stall next = found.poll(2, java.util.concurrent.TimeUnit.MINUTES);
                texts.add(next == null ? "no stall" : next.description);
            } while (!texts.contains(text) && !texts.contains("no stall"));
            return texts;
        }
    }

    /**
     * Stops a real process with SIGSTOP while a message runs. On a machine with much other work the process may get so
     * little CPU time around the stop that the message is slow in truth. Then the test tries again, and that message
     * may be a stall.
     */
    @Test
    void aProcessThatGotSigstopDoesNotStall() throws Exception {
        boolean linux = System.getProperty("os.name").equals("Linux");
        assertTrue(linux || System.getenv("CI") == null || !System.getenv("CI").equals("true"), "needs Linux");
        Assumptions.assumeTrue(linux, "needs Linux");
        final long slow = 2000;
        file = dir.resolve("child.tgd");
        String pid = null;
        Process p = new ProcessBuilder(Paths.get(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Child.class.getName(), String.valueOf(slow), file.toString()).redirectError(
                ProcessBuilder.Redirect.INHERIT).start();
        try {
            BufferedReader out = new BufferedReader(new InputStreamReader(p.getInputStream(), "UTF-8"));
            pid = out.readLine();
            final String child = pid;
            long inTime = 0;
            int tries = 0;
            for (; inTime == 0 && tries < 20; tries++) {
                assertEquals("begun", out.readLine());
                kill(pid, "STOP");
                Await.until("the process is stopped", () -> state(child) == 'T');
                long begin = System.nanoTime();
                Thread.sleep(2 * slow);
                long stopped = System.nanoTime() - begin;
                kill(pid, "CONT");
                p.getOutputStream().write('\n');
                p.getOutputStream().flush();
                long wall = Long.parseLong(out.readLine());
                assertTrue(wall >= stopped);
                inTime = wall - stopped < slow * 1000000L / 2 ? wall : 0;
            }
            Assumptions.assumeTrue(inTime != 0, "the machine has no CPU time for this");
            assertEquals("begun", out.readLine());
            p.getOutputStream().write("end\n".getBytes("UTF-8"));
            p.getOutputStream().flush();
            Long.parseLong(out.readLine());
            String texts = out.readLine();
            assertEquals(0, p.waitFor());
            assertTrue(texts.endsWith("method 7]"), texts);
            assertTrue(!texts.contains("try " + (tries - 1) + ","), texts);
            assertEquals(1 + texts.split(",").length, WrittenChunks.of(file, RecordingWriter.STALL).size());
            assertTrue(times(0).endsWith("/1"), times(0));
            // The child has stopped the recorder just before it ended.
            assertEquals(1, WrittenChunks.of(file, RecordingWriter.END).size());
        } finally {
            // A stopped process ends at once too.
            p.destroyForcibly();
        }
    }

    private static void kill(String pid, String signal) throws Exception {
        new ProcessBuilder("kill", "-" + signal, pid).start().waitFor();
    }

    /** Returns the state of a process as /proc has it. */
    private static char state(String pid) throws Exception {
        String stat = new String(Files.readAllBytes(Paths.get("/proc/" + pid + "/stat")), "UTF-8");
        return stat.charAt(stat.lastIndexOf(')') + 2);
    }
}
