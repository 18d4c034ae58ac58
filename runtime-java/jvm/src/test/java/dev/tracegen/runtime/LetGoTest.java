package dev.tracegen.runtime;

import static dev.tracegen.runtime.RandomCallers.call;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Methods that are let go while they are off, and come back. */
class LetGoTest {
    private static final String DIGEST = MappingInfo.digest();

    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();
    private Recorder recorder;
    private Path file;
    private int share;

    /** Where the sampler stands still, null if it never did. */
    private CountDownLatch held;

    private void start(RecorderOptions o) {
        file = dir.resolve("r.tgd");
        o.letGoCalls = 1;
        o.letGoShare = share;
        recorder = Recorder.start(o.platform(platform).output(file.toFile()).everyRecord(true));
    }

    @AfterEach
    void stop() throws Exception {
        if (held != null) {
            held.countDown();
        }
        Recorder.setGate(new int[0], DIGEST);
        Await.stop(recorder);
    }

    private static boolean gone(int id) {
        return Edition.LET_GO[id] != 0;
    }

    /** Reports whether the entries of a method that is let go are to be seen in stacks. */
    private static boolean visible(int id) {
        return gone(id) && Edition.LET_GO[id] <= AppMethodBeat.shown;
    }

    /** Lets the clock pass while a method is called, until it is let go or has come back. */
    private void awaitGone(int id, boolean gone) throws Exception {
        Await.until("the method " + id + (gone ? " is let go" : " comes back"), () -> {
            for (int k = 0; k < 100; k++) {
                call(id, -id);
            }
            platform.pass(101);
            platform.awaitCheck();
            return gone(id) == gone;
        });
    }

    /** Switches a method off by a list, and calls it until it is let go. */
    private void letGo(int id) throws Exception {
        assertTrue(Recorder.setGate(new int[] {id}, DIGEST));
        awaitGone(id, true);
    }

    /** Empties the list, and calls a method until the one of the list is on. */
    private void switchOn() throws Exception {
        Recorder.setGate(new int[0], DIGEST);
        Await.until("the method is on", () -> {
            platform.pass(101);
            platform.awaitCheck();
            call(5, -5);
            return (int) recorder.threads.main().existingRing().states[1] == 0;
        });
    }

    private String recorded() throws Exception {
        Await.stop(recorder);
        return WrittenChunks.records(file, 0);
    }

    /** Returns the changes as {@code ID=STATE}. */
    private String changes() throws Exception {
        StringBuilder b = new StringBuilder();
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, RecordingWriter.LET_GO)) {
            c.sv();
            for (long n = c.uv(); n > 0; n--) {
                b.append(b.length() == 0 ? "" : " ").append(c.uv()).append('=').append(c.u8());
            }
        }
        return b.toString();
    }

    @Test
    void aMethodIsLetGoAndComesBackAndIsOnAgain() throws Exception {
        start(new RecorderOptions());
        call(1);
        letGo(2);
        call(2, 2, 3, -3, -2, -2);
        awaitGone(2, false);
        switchOn();
        call(2, -2, -1);
        String all = recorded().replaceAll("( \\+2 -2)+ \\+3", " +3").replaceAll("( \\+5 -5)+", "");
        assertEquals("+1 +3 -3 +2 -2 -1", all);
        assertEquals("2=1 2=0", changes());
    }

    /** While a method waits to be let go, slow stacks are put off, but not for ever. */
    @Test
    void aMethodThatFloodsIsDueUntilItIsLetGo() throws Exception {
        start(new RecorderOptions());
        call(1);
        assertFalse(LetGo.isDue(platform.nanoTime()));
        assertTrue(Recorder.setGate(new int[] {2}, DIGEST));
        Await.until("the method waits", () -> {
            call(2, -2, 2, -2);
            platform.pass(101);
            platform.awaitCheck();
            return LetGo.isDue(platform.nanoTime());
        });
        assertFalse(LetGo.isDue(platform.nanoTime() + 60_000_000_000L));
        awaitGone(2, true);
        assertFalse(LetGo.isDue(platform.nanoTime()));
    }

    /** Calls that began before the method was let go, or meanwhile, have no exit when it is on again. */
    @Test
    void anExitFromBeforeIsLeftOut() throws Exception {
        start(new RecorderOptions());
        call(1);
        assertTrue(Recorder.setGate(new int[] {2}, DIGEST));
        Await.until("the list is carried out", () -> {
            call(5, -5);
            return recorder.threads.main().existingRing().applied != null;
        });
        call(2, 2);
        awaitGone(2, true);
        call(-2, 2, 2);
        awaitGone(2, false);
        switchOn();
        call(2, 3, -3, -2, -2, -2, -2, 2, -2, -1);
        String all = recorded().replaceAll("( \\+5 -5)+", "");
        assertEquals("+1 +2 +3 -3 -2 +2 -2 -1", all);
    }

    /** While the clock pauses, a call is looked at twice. It counts once, so that later exits find their entries. */
    @Test
    void aCallWhileTheClockPausesCountsOnce() throws Exception {
        start(new RecorderOptions());
        call(1);
        letGo(2);
        call(2);
        awaitGone(2, false);
        switchOn();
        Await.until("the clock pauses", () -> AppMethodBeat.fast.rings == null);
        call(2);
        Await.until("the clock goes on", () -> AppMethodBeat.fast.rings != null);
        call(-2, -2, -1);
        String all = recorded();
        // Also those from before the method was off.
        assertTrue(all.matches("\\+1( \\+2 -2| \\+5 -5)+ -1"), all);
    }

    @Test
    void aMethodOfWhichARecordedCallIsOpenIsKept() throws Exception {
        start(new RecorderOptions());
        call(1, 2);
        assertTrue(Recorder.setGate(new int[] {2}, DIGEST));
        for (int k = 0; k < 10; k++) {
            call(2, -2, 3, -3);
            platform.pass(101);
            platform.awaitCheck();
        }
        assertTrue(!gone(2));
        call(-2);
        awaitGone(2, true);
        call(-1);
        String all = recorded().replaceAll("( \\+3 -3)+", "").replaceAll("( \\+2 -2)+ -1", " -1");
        assertTrue(all.startsWith("+1 +2 ") && all.endsWith("-2 -1") || all.equals("+1 -1"), all);
    }

    @Test
    void withCountedCallsNoMethodIsLetGo() throws Exception {
        start(new RecorderOptions().set("gate", "counted"));
        assertTrue(Recorder.setGate(new int[] {2}, DIGEST));
        for (int k = 0; k < 10; k++) {
            call(2, -2, 3, -3);
            platform.pass(101);
            platform.awaitCheck();
        }
        assertFalse(gone(2));
    }

    /** Methods are let go and come back at any moment, with two threads: every recorded call is complete. */
    @Test
    void noChangeSplitsACall() throws Exception {
        RecorderOptions o = new RecorderOptions().threads(RecorderOptions.THREADS_ALL);
        o.letGoNanos = 100000000L;
        start(o);
        RandomCallers callers = new RandomCallers(12);
        Random random = new Random(9);
        for (int change = 0; change < 200; change++) {
            if (change % 10 == 0) {
                Recorder.setGate(callers.someOf(random), DIGEST);
            }
            platform.pass(101);
            // As a thread does it that floods, at any moment of the sampler.
            Gate.Request last = recorder.fastPath.gateRequest();
            if (change % 3 == 0) {
                recorder.fastPath.request(last, Gate.Request.off(last, new int[] {1 + random.nextInt(12)}));
            }
            platform.awaitCheck();
            LockSupport.parkNanos(2000000L);
        }
        callers.end();
        Await.stop(recorder);
        RandomCallers.assertWhole(file);
        assertTrue(changes().split(" ").length > 20, "nothing was tested: " + changes());
    }

    /** Each floods while it is back, so they come back one by one. */
    @Test
    void methodsComeBackOneByOne() throws Exception {
        start(new RecorderOptions());
        assertTrue(Recorder.setGate(new int[] {2, 3}, DIGEST));
        Await.until("both are let go", () -> {
            call(2, -2, 3, -3);
            platform.pass(101);
            platform.awaitCheck();
            return gone(2) && gone(3);
        });
        platform.pass(10000);
        Await.until("one is back", () -> {
            call(2, -2, 3, -3);
            platform.pass(101);
            platform.awaitCheck();
            return !gone(2) || !gone(3);
        });
        assertTrue(gone(2) || gone(3));
        awaitGone(gone(2) ? 2 : 3, false);
    }

    /** What floods so much is slow while it is back. */
    @Test
    void anExtremeFloodComesBackAfterAMinute() throws Exception {
        start(new RecorderOptions());
        assertTrue(Recorder.setGate(new int[] {2, 3}, DIGEST));
        Await.until("both are let go", () -> {
            call(3, -3);
            for (int k = 0; k < 150000; k++) {
                call(2, -2);
            }
            platform.pass(101);
            platform.awaitCheck();
            return gone(2) && gone(3);
        });
        platform.pass(10000);
        awaitGone(3, false);
        assertTrue(gone(2));
        platform.pass(50000);
        awaitGone(2, false);
    }

    /** Lets the sampler stand still at the end of a check until the latch is open. */
    private void hold() throws Exception {
        CountDownLatch stands = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        held = open;
        platform.checked = () -> {
            stands.countDown();
            Await.open(open);
        };
        Await.open(stands);
        platform.checked = null;
    }

    /** The sampler cannot close a window that its owner uses, and does not know which calls are open in it. */
    @Test
    void aMethodThatIsOpenInAWindowIsKept() throws Exception {
        start(new RecorderOptions().ringRecords(1024));
        call(1);
        hold();
        Ring[] ring = new Ring[1];
        Await.until("a window is open", () -> {
            call(3, -3);
            ring[0] = recorder.threads.main().existingRing();
            return ring[0].windowIsOpen();
        });
        call(2);
        Gate.Request last = recorder.fastPath.gateRequest();
        assertTrue(recorder.fastPath.request(last, Gate.Request.off(last, new int[] {2})));
        call(2, -2);
        Field locked = Ring.class.getDeclaredField("locked");
        locked.setAccessible(true);
        locked.setInt(ring[0], 1);
        held.countDown();
        for (int k = 0; k < 10; k++) {
            call(2, -2);
            platform.pass(101);
            platform.awaitCheck();
        }
        assertFalse(gone(2));
        locked.setInt(ring[0], 0);
        call(-2);
        awaitGone(2, true);
        call(-1);
        String all = recorded();
        assertTrue(all.startsWith("+1 +3") && all.endsWith("+2 -2 -1"), all);
    }

    /** Once it is inlined, no stack shows a method. So the entries of one that takes much time are calls meanwhile. */
    @Test
    void aMethodThatTakesMuchOfTheTimeIsVisibleInStacks() throws Exception {
        share = 5;
        start(new RecorderOptions());
        assertTrue(Recorder.setGate(new int[] {1, 2}, DIGEST));
        call(2);
        for (int k = 0; k < 20 || !gone(1) || !gone(2); k++) {
            // The method 2 is open whenever it is seen, and 1 never.
            for (int n = 0; n < 100; n++) {
                call(1, -1, -2, 2);
            }
            platform.pass(101);
            platform.awaitCheck();
        }
        hold();
        assertFalse(visible(2));
        assertFalse(LetGo.show(Thread.State.WAITING));
        assertTrue(LetGo.show(Thread.State.RUNNABLE));
        assertTrue(visible(2));
        assertFalse(visible(1));
        assertTrue(LetGo.hide(true));
        assertFalse(visible(2));
        // A thread that does not stop calls a visible method on and on.
        LetGo.show(Thread.State.RUNNABLE);
        Await.until("the method is hidden", () -> {
            call(2, -2);
            return !visible(2);
        });
        assertFalse(LetGo.hide(true));
        held.countDown();
        awaitGone(2, false);
        hold();
        assertFalse(LetGo.show(Thread.State.RUNNABLE));
    }
}
