package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random programs and random requests, beside a model that keeps every call: which are recorded, and which of them at
 * all. The requests are carried out on this thread, between two calls, as {@link Recorder} does it.
 */
class GateModelTest {
    private static final int METHODS = 6;

    /** A call that is open: whether its entry was recorded. */
    private static final class Call {
        final int id;
        final boolean recorded;

        Call(int id, boolean recorded) {
            this.id = id;
            this.recorded = recorded;
        }
    }

    private ThreadTrace trace;
    private long first;
    private final List<Call> open = new ArrayList<Call>();
    private final boolean[] wanted = new boolean[METHODS + 1];
    private final boolean[] off = new boolean[METHODS + 1];
    private final long[] leftOut = new long[METHODS + 1];
    private final char[] slots = new char[METHODS + 1];
    private final List<String> expected = new ArrayList<String>();

    /**
     * Creates a program.
     *
     * @param first the number of the first record: the ring grows when 64 divides the number, so at any place
     */
    private static GateModelTest program(long first) {
        GateModelTest t = new GateModelTest();
        t.first = first;
        t.trace = RingTest.growing(Ring.SEGMENT, 1 << 16, first);
        return t;
    }

    private boolean records(int id, boolean entry) {
        Ring ring = trace.existingRing();
        char[] gate = ring.gate;
        boolean dropped = gate != null && gate[id] != 0
                && (entry ? ThreadGate.dropsEntry(ring, gate[id]) : ThreadGate.dropsExit(ring, gate[id]));
        if (!dropped) {
            ring.put((entry ? Ring.ENTRY : 0) | (long) id << Ring.ID_SHIFT);
        }
        return !dropped;
    }

    private void request(Random random) {
        // The slots in the order in which the methods are first off, as the recorder numbers them.
        for (int id = 1; id <= METHODS; id++) {
            wanted[id] = random.nextInt(3) == 0;
            if (wanted[id] && slots[id] == 0) {
                slots[id] = (char) (1 + used());
            }
        }
        boolean[] request = new boolean[used() + 1];
        int[] ids = new int[request.length];
        for (int id = 1; id <= METHODS; id++) {
            if (slots[id] != 0) {
                request[slots[id]] = wanted[id];
                ids[slots[id]] = id;
            }
        }
        ThreadGate.apply(new Gate.Request(slots, request, ids, 1, new int[ids.length]), trace.existingRing(), null, 0);
        // The model: off from now on if wanted, on again only if no call that was left out is open.
        for (int id = 1; id <= METHODS; id++) {
            boolean hidden = false;
            for (Call c : open) {
                hidden |= c.id == id && !c.recorded;
            }
            off[id] = wanted[id] || off[id] && hidden;
        }
    }

    private int used() {
        int n = 0;
        for (char slot : slots) {
            n += slot != 0 ? 1 : 0;
        }
        return n;
    }

    @Test
    void theRecordsAreThoseOfTheModel() {
        int grown = 0;
        for (int program = 0; program < 300; program++) {
            GateModelTest t = program(program % Ring.SEGMENT);
            t.runProgram(new Random(program), "program " + program);
            grown += t.trace.existingRing().length() > Ring.SEGMENT ? 1 : 0;
        }
        assertTrue(grown > 200, "growth was tested in " + grown + " programs only");
    }

    private void runProgram(Random random, String program) {
        int changes = 0;
        for (int n = 0; n < 400 || !open.isEmpty(); n++) {
            if (n < 400 && random.nextInt(20) == 0) {
                request(random);
                changes++;
            }
            if (n < 400 && (open.isEmpty() || open.size() < 20 && random.nextBoolean())) {
                int id = 1 + random.nextInt(METHODS);
                boolean recorded = records(id, true);
                assertEquals(!off[id], recorded, program + ": the entry of " + id + " at call " + n);
                if (recorded) {
                    expected.add("+" + id);
                } else {
                    leftOut[id]++;
                }
                open.add(new Call(id, recorded));
            } else {
                Call c = open.remove(open.size() - 1);
                assertEquals(c.recorded, records(c.id, false), program + ": the exit of " + c.id + " at call " + n);
                if (c.recorded) {
                    expected.add("-" + c.id);
                }
            }
        }
        assertTrue(changes > 0);
        Ring ring = trace.existingRing();
        List<String> got = new ArrayList<String>();
        for (long r : ring.copy(0, Long.MAX_VALUE).records) {
            got.add((r < 0 ? "+" : "-") + (r >>> Ring.ID_SHIFT & 0xFFFFF));
        }
        assertEquals(expected, got, program);
        long[] counted = new long[METHODS + 1];
        for (int id = 1; id <= METHODS; id++) {
            counted[id] = slots[id] == 0 || slots[id] >= ring.states.length ? 0 : ring.states[slots[id]] >>> 32;
        }
        assertEquals(Arrays.toString(leftOut), Arrays.toString(counted), program);
        checkChanges(program);
    }

    /** Replays the records with the changes that the file would have: a method that is off has no entry. */
    private void checkChanges(String program) {
        List<Gate.Change> changes = new ArrayList<Gate.Change>();
        for (Gate.Change c = trace.existingRing().lastChange; c != null; c = c.before) {
            changes.add(0, c);
        }
        boolean[] now = new boolean[METHODS + 1];
        int next = 0;
        long number = first;
        for (String r : expected) {
            for (; next < changes.size() && changes.get(next).number <= number; next++) {
                for (int id : changes.get(next).ids) {
                    assertEquals(id < 0, now[Math.abs(id)], program + ": a method is switched to its own state");
                    now[Math.abs(id)] = id > 0;
                }
            }
            assertFalse(r.startsWith("+") && now[Integer.parseInt(r.substring(1))], program + ": " + r + " was off");
            number++;
        }
    }

    /** Methods that end by exceptions have no exit. Then too much may be left out, but no exit has another's entry. */
    @Test
    void missingExitsNeverMakeAnExitTooMuch() {
        for (int program = 0; program < 300; program++) {
            GateModelTest t = program(program % Ring.SEGMENT);
            Random random = new Random(program);
            // How many recorded calls of each method are open, as a reader sees it at most.
            int[] recorded = new int[METHODS + 1];
            for (int n = 0; n < 600; n++) {
                if (random.nextInt(20) == 0) {
                    t.request(random);
                }
                if (t.open.isEmpty() || t.open.size() < 20 && random.nextBoolean()) {
                    int id = 1 + random.nextInt(METHODS);
                    boolean put = t.records(id, true);
                    recorded[id] += put ? 1 : 0;
                    t.open.add(new Call(id, put));
                } else {
                    Call c = t.open.remove(t.open.size() - 1);
                    if (random.nextInt(10) != 0 && t.records(c.id, false)) {
                        recorded[c.id]--;
                        assertTrue(recorded[c.id] >= 0, "program " + program + ": an exit too much at " + n);
                    }
                }
            }
        }
    }

    /** A thread has memory for the methods that were off, not for all. */
    @Test
    void theMemoryOfAThreadIsThatOfTheMethodsThatWereOff() {
        char[] many = new char[AppMethodBeat.METHOD_ID_DISPATCH];
        many[1000000] = 1;
        Ring[] rings = new Ring[1000];
        Gate.Request request = new Gate.Request(many, new boolean[] {false, true}, new int[] {0, 1000000}, 1,
                new int[2]);
        for (int k = 0; k < rings.length; k++) {
            rings[k] = RingTest.fixed(Thread.currentThread(), 4);
            ThreadGate.apply(request, rings[k], null, 0);
            assertEquals(2, rings[k].states.length);
            assertTrue(rings[k].gate == many, "the table is one for all threads");
        }
    }
}
