package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The calls and times by which the gate decides. */
class CallCountsTest {
    private final Recorder recorder = Recorder.start(new RecorderOptions().platform(new VirtualPlatform())
            .ringRecords(1024));
    private final CallCounts counts = new CallCounts();

    @AfterEach
    void stop() throws Exception {
        Await.stop(recorder);
    }

    private ThreadTrace thread() {
        return recorder.threads.of(new Thread());
    }

    private void add(ThreadTrace t, String records) {
        counts.add(t, new RecordCopy(0, CallTreeTest.records(records), 0), 1);
    }

    /** Calls that are open at the end of a copy go on in the next one of the same thread, and only there. */
    @Test
    void threadsDoNotMix() {
        ThreadTrace a = thread();
        ThreadTrace b = thread();
        add(a, "+1@0 +2@10");
        add(b, "-1@5 +1@100 +3@100");
        add(a, "-2@40 -1@50");
        add(b, "-3@107 -1@120");
        assertEquals(2, counts.calls(1));
        assertEquals((50 + 20) / 2, counts.meanNanos(1));
        assertEquals(30, counts.meanNanos(2));
        assertEquals(7, counts.meanNanos(3));
        assertEquals(4, counts.total());
        assertArrayEquals(new int[] {1, 2, 3}, counts.mostCalled());
    }

    /** IDs are spread over all their values, and a window has any number of them. */
    @Test
    void aWindowMayHaveManyMethods() {
        ThreadTrace t = thread();
        StringBuilder records = new StringBuilder("+1@0");
        for (int k = 2; k < 5000; k++) {
            records.append(" +").append(k * 200).append('@').append(k).append(" -").append(k * 200).append('@')
                    .append(k + k % 7);
        }
        add(t, records + " +1000000@6000 -1000000@6000 +400@6000");
        int[] most = counts.mostCalled();
        assertEquals(5000, most.length);
        assertArrayEquals(new int[] {400, 1, 600}, Arrays.copyOf(most, 3));
        assertEquals(6, counts.meanNanos(200 * 13));
        counts.clear();
        assertEquals(0, counts.mostCalled().length);
        add(t, "-400@7000 -1@9000");
        assertEquals(0, counts.calls(1));
        assertEquals(9000, counts.meanNanos(1));
    }

    /** The first window may have few methods, while many calls are open for the next one. */
    @Test
    void manyCallsMayBeOpen() {
        ThreadTrace t = thread();
        StringBuilder entries = new StringBuilder();
        StringBuilder exits = new StringBuilder();
        for (int k = 1; k < 3000; k++) {
            entries.append("+").append(k).append("@0 ");
            exits.append("-").append(3000 - k).append("@").append(k).append(' ');
        }
        add(t, entries.toString().trim());
        counts.clear();
        add(t, "+9000@0");
        counts.clear();
        add(t, "-9000@0 " + exits.toString().trim());
        for (int id = 1; id < 3000; id++) {
            assertEquals(3000 - id, counts.meanNanos(id), "method " + id);
        }
        counts.clear();
        add(t, exits.toString().trim());
        assertEquals(0, counts.meanNanos(7));
    }

    @Test
    void recursionCountsItsTimeOnce() {
        ThreadTrace t = thread();
        add(t, "+1@0 +1@10 +7000@11");
        add(t, "+1@12");
        add(t, "-1@20 -7000@30 -1@30 -1@40");
        assertEquals(3, counts.calls(1));
        assertEquals(40 / 3, counts.meanNanos(1));
        assertEquals(19, counts.meanNanos(7000));
        // The exit of 2 is missing.
        add(t, "+1@50 +2@60 -1@70");
        assertEquals(10, counts.meanNanos(2));
        assertEquals(60 / 4, counts.meanNanos(1));
    }
}
