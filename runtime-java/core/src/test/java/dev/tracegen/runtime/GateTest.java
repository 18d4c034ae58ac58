package dev.tracegen.runtime;

import static dev.tracegen.runtime.RandomCallers.call;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Methods that are switched off and on while the program runs. */
class GateTest {
    private static final String DIGEST = MappingInfo.digest();

    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();
    private Recorder recorder;
    private Path file;

    private void start(RecorderOptions o) {
        file = dir.resolve("r.tgd");
        recorder = Recorder.start(o.platform(platform).output(file.toFile()).everyRecord(true));
    }

    @AfterEach
    void stop() throws Exception {
        Recorder.setGate(new int[0], DIGEST);
        Await.stop(recorder);
    }

    /** Sets the list and waits until the main thread will carry it out at its next call. */
    private void gate(int... ids) throws Exception {
        Gate.Request before = recorder.fastPath.gateRequest();
        assertTrue(Recorder.setGate(ids, DIGEST));
        awaitRequest(before);
    }

    /** Waits until the recorder has published another request. */
    private void awaitRequest(Gate.Request before) throws Exception {
        Await.until("the gate changes", () -> recorder.fastPath.gateRequest() != before);
        // The request is seen before the fast path ends.
        recorder.fastPath.update();
    }

    private String recorded() throws Exception {
        Await.stop(recorder);
        return WrittenChunks.records(file, 0);
    }

    /** Returns the changes as {@code RECORD:ID=STATE,...}. */
    private String changes() throws Exception {
        StringBuilder b = new StringBuilder();
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, RecordingWriter.GATE)) {
            c.sv();
            StringBuilder ids = new StringBuilder();
            for (long n = c.uv(); n > 0; n--) {
                ids.append(ids.length() == 0 ? "" : ",").append(c.uv()).append('=').append(c.u8());
            }
            assertEquals(1, c.uv());
            assertEquals(0, c.uv());
            b.append(b.length() == 0 ? "" : " ").append(c.uv()).append(':').append(ids);
        }
        return b.toString();
    }

    @Test
    void aMethodIsLeftOutFromTheNextCallOnAndOnAgain() throws Exception {
        start(new RecorderOptions());
        call(1, 2, -2);
        gate(2);
        call(2, -2, 3, 2, 2, -2, -2, -3);
        gate();
        call(2, -2, -1);
        assertEquals("+1 +2 -2 +3 -3 +2 -2 -1", recorded());
        assertEquals("3:2=1 5:2=0", changes());
        assertEquals(3, leftOut());
    }

    @Test
    void callsThatAreOpenWhenTheirMethodIsSwitchedOffEnd() throws Exception {
        start(new RecorderOptions());
        call(2, 2, 1);
        gate(2);
        call(2, 3, -3, -2, -1, 2, -2, -2, 2, -2, -2);
        assertEquals("+2 +2 +1 +3 -3 -1 -2 -2", recorded());
    }

    @Test
    void aMethodStaysOffUntilItsCallsThatWereLeftOutHaveEnded() throws Exception {
        start(new RecorderOptions());
        call(1);
        gate(2);
        call(2);
        gate();
        call(3, -3, 2, -2, -2);
        // The recorder asks again within a second of its clock.
        Gate.Request before = recorder.fastPath.gateRequest();
        platform.pass(1001);
        awaitRequest(before);
        call(3, -3, 2, -2, -1);
        assertEquals("+1 +3 -3 +3 -3 +2 -2 -1", recorded());
        assertEquals("1:2=1 5:2=0", changes().replace("3:2=0", "5:2=0"));
    }

    @Test
    void aNewThreadBeginsWithTheGate() throws Exception {
        start(new RecorderOptions().threads(RecorderOptions.THREADS_ALL));
        call(1);
        gate(8);
        Thread t = new Thread() {
            @Override
            public void run() {
                call(8, 9, -9, -8);
            }
        };
        t.start();
        t.join();
        Await.stop(recorder);
        assertEquals("+9 -9", WrittenChunks.records(file, 1));
    }

    @Test
    void aListOfAnotherMappingIsRefused() throws Exception {
        start(new RecorderOptions());
        assertFalse(Recorder.setGate(new int[] {1}, "0123456789abcdef"));
        assertFalse(Recorder.setGate(new int[] {1}, null));
        call(1, -1);
        platform.awaitCheck();
        call(1, -1);
        assertEquals("+1 -1 +1 -1", recorded());
    }

    @Test
    void aListSwitchesMethodsOffFromTheBeginOn() throws Exception {
        assertTrue(Recorder.setGate(new int[] {2, 5}, DIGEST));
        start(new RecorderOptions());
        Await.until("the list is carried out", () -> {
            call(1, -1);
            return recorder.threads.main().existingRing().applied != null;
        });
        call(2, 5, -5, -2);
        assertFalse(recorded().contains("2"));
    }

    private long leftOut() throws Exception {
        long calls = 0;
        for (WrittenChunks.Chunk c : WrittenChunks.of(file, RecordingWriter.LEFT_OUT)) {
            c.sv();
            for (long n = c.uv(); n > 0; n--) {
                c.uv();
                calls += c.uv();
            }
        }
        return calls;
    }

    /** A method that floods is off within a second of the clock, and on again when it has been quiet. */
    @Test
    void aMethodThatFloodsIsSwitchedOffAndOnAgain() throws Exception {
        start(new RecorderOptions());
        call(1);
        flood(200000);
        awaitDrained();
        platform.pass(150);
        platform.awaitCheck();
        assertEquals("", changes(), "decided too early");
        flood(200000);
        awaitDrained();
        Gate.Request before = recorder.fastPath.gateRequest();
        platform.pass(60);
        awaitRequest(before);
        call(2, -2, 3, -3);
        awaitDrained();
        assertTrue(changes().endsWith(":2=1"), changes());
        flood(1000);
        Gate.Request off = recorder.fastPath.gateRequest();
        Await.until("the method is on again", () -> {
            platform.pass(1100);
            platform.awaitCheck();
            return recorder.fastPath.gateRequest() != off;
        });
        call(3, -3, 2, -2, -1);
        String all = recorded();
        assertTrue(all.endsWith("+3 -3 +3 -3 +2 -2 -1"), all.substring(Math.max(0, all.length() - 100)));
        assertTrue(changes().endsWith(":2=0"), changes());
        assertEquals(1001, leftOut());
    }

    /** The sampler decides after 200 ms of the clock. The threads do not wait for it. */
    @Test
    void aThreadSwitchesOffWhatItFloodsWith() throws Exception {
        start(new RecorderOptions());
        call(1);
        flood((int) Flood.LOOK_RECORDS / 2);
        assertEquals(null, recorder.fastPath.gateRequest());
        platform.pass(50);
        flood((int) Flood.LOOK_RECORDS / 2);
        for (int k = 0; k < 1000 && recorder.fastPath.gateRequest() == null; k++) {
            // Each call takes 10 ns.
            flood(100);
            platform.nanos.addAndGet(1000);
        }
        call(2, -2, 3, -3);
        flood(1000);
        // The sampler takes it over, and switches off more.
        gate(3);
        call(3, -3, 2, -2, -1);
        assertTrue(recorded().endsWith("-2 +3 -3 -1"));
        assertTrue(changes().matches("[0-9]+:2=1 [0-9]+:3=1"), changes());
        long leftOut = leftOut();
        assertTrue(leftOut >= 1003 && leftOut <= 1103, leftOut + " calls");
    }

    /** Methods whose calls take longer are left to the sampler, which knows the calls inside of them. */
    @Test
    void aThreadSwitchesOffNoLongCalls() throws Exception {
        start(new RecorderOptions());
        flood((int) Flood.LOOK_RECORDS / 2);
        platform.pass(50);
        flood((int) Flood.LOOK_RECORDS / 2);
        // Some of these calls, which take no time, may be noted together with the ones below.
        platform.pass(2);
        for (int k = 0; k < 1000; k++) {
            flood(10);
            platform.nanos.addAndGet(25000);
        }
        assertEquals(null, recorder.fastPath.gateRequest());
    }

    /** Calls whose records alone are not too many. */
    @Test
    void aMethodThatFloodsWithMarksIsSwitchedOff() throws Exception {
        start(new RecorderOptions());
        call(1);
        floodWithMarks(60000);
        awaitDrained();
        Gate.Request before = recorder.fastPath.gateRequest();
        platform.pass(210);
        awaitRequest(before);
        call(3, -3, -1);
        assertTrue(recorded().endsWith("+3 -3 -1"));
        assertTrue(changes().endsWith(":2=1"), changes());
    }

    @Test
    void aThreadSwitchesOffWhatItFloodsWithMarks() throws Exception {
        start(new RecorderOptions());
        platform.pass(50);
        floodWithMarks((int) Flood.LOOK_RECORDS / 4);
        for (int k = 0; k < 100; k++) {
            floodWithMarks(100);
            platform.nanos.addAndGet(1000);
        }
        assertTrue(recorder.fastPath.gateRequest().isOff(1));
    }

    private static void floodWithMarks(int calls) {
        Object continuation = new Object();
        for (int k = 0; k < calls; k++) {
            AppMethodBeat.starts(continuation, 2);
            AppMethodBeat.starts(continuation, 2);
            call(2, -2);
        }
    }

    private void awaitDrained() throws Exception {
        Ring ring = recorder.threads.main().existingRing();
        Await.until("all records are handed over", () -> ring.sequence() == ring.copied());
        // The one that was copied last is handed over after that, and all of them are written some time later.
        platform.awaitCheck();
        Await.written(recorder);
    }

    private static void flood(int calls) {
        for (int k = 0; k < calls; k++) {
            call(2, -2);
        }
    }

    @Test
    void theGateCanBeOff() throws Exception {
        start(new RecorderOptions().set("gate", "off"));
        flood(1000000);
        awaitDrained();
        platform.pass(500);
        platform.awaitCheck();
        call(2, -2);
        Await.stop(recorder);
        assertEquals("", changes());
    }

    @Test
    void lostRecordsAreCounted() throws Exception {
        start(new RecorderOptions().set("gate", "off").ringRecords(1024));
        recorder.rings().overwrite = true;
        flood(1000000);
        assertTrue(recorded().contains("!"), "nothing was lost");
    }

    /** Changes at any moment and in any order, with two threads: every recorded call is complete. */
    @Test
    void noChangeSplitsACall() throws Exception {
        start(new RecorderOptions().threads(RecorderOptions.THREADS_ALL));
        RandomCallers callers = new RandomCallers(12);
        Random random = new Random(9);
        for (int change = 0; change < 60; change++) {
            gate(callers.someOf(random));
            // As a thread does it that floods, at any moment of the sampler. These stay off for long, so they are few.
            Gate.Request last = recorder.fastPath.gateRequest();
            recorder.fastPath.request(last, Gate.Request.off(last, new int[] {1 + random.nextInt(4)}));
            platform.pass(500);
            Await.until("the threads carry it out", () -> callers.follow(recorder));
        }
        callers.end();
        Await.stop(recorder);
        RandomCallers.assertWhole(file);
        int changes = WrittenChunks.of(file, RecordingWriter.GATE).size();
        assertTrue(changes > 60, "only " + changes + " changes were tested");
    }
}
