package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What remains of the records of a thread that puts more than its ring holds. */
class WindowTest {
    private static final long LONG = 100;

    private static String kept(String records) {
        Window w = new Window(new MemoryBudget(1 << 20));
        w.open(0, LONG);
        for (long r : CallTreeTest.records(records)) {
            w.add(r);
        }
        StringBuilder b = new StringBuilder();
        for (int k = 0; k < w.size(); k++) {
            long r = w.record(k);
            b.append(r < 0 ? '+' : '-').append(r >>> Ring.ID_SHIFT & 0xFFFFF).append('@')
                    .append(r & Ring.TIME_MASK).append(' ');
        }
        return b.append('/').append(w.take(0, w.size(), 0).calls).toString();
    }

    @Test
    void onlyShortCompleteCallsAreLeftOut() {
        assertEquals("/3", kept("+1@0 +2@1 -2@2 +3@3 -3@4 -1@5"));
        assertEquals("-7@3 -8@4 +1@5 +2@9 /2", kept("+1@0 -1@2 -7@3 -8@4 +1@5 +3@6 -3@8 +2@9"));
        assertEquals("+1@0 +2@3 -2@103 -1@104 /1", kept("+1@0 +3@1 -3@2 +2@3 -2@103 -1@104"));
        // The exit of 2 is missing.
        assertEquals("/2", kept("+1@0 +2@1 -1@2"));
        assertEquals("-9@2 /2", kept("+1@0 +2@1 -9@2"));
        assertEquals("+1@0 -9@200 /1", kept("+1@0 +2@1 -2@9 -9@200"));
        // Recursion: only the exit behind both inner ones is of the outer call.
        assertEquals("-1@5 /2", kept("+1@0 +1@1 -1@2 -1@3 -1@5"));
    }

    private static void fill(Ring ring, int from, int to) {
        for (int k = from; k < to; k++) {
            ring.put(Ring.ENTRY | (long) k << Ring.ID_SHIFT);
        }
    }

    private static String numbers(RecordCopy c) {
        StringBuilder b = new StringBuilder(c.firstSequence + "!" + c.overwritten + ":");
        for (long r : c.records) {
            b.append(r < 0 ? " +" : " -").append(r >>> Ring.ID_SHIFT & 0xFFFFF);
        }
        return b.toString();
    }

    @Test
    void aFullRingOpensAWindowAndTheCopierClosesIt() {
        Ring ring = RingTest.fixed(Thread.currentThread(), 1024);
        ring.rings.overwrite = false;
        assertNull(ring.closeWindow(true));
        fill(ring, 1, 961);
        assertEquals(960, ring.sequence());
        ring.put(960L << Ring.ID_SHIFT);
        fill(ring, 1000, 1003);
        ring.put(1002L << Ring.ID_SHIFT);
        assertEquals(960, ring.sequence(), "the sequence does not move in a window");
        assertNull(ring.closeWindow(true), "not everything is copied");
        ring.copied(960);
        Window.Closed w = ring.closeWindow(true);
        assertEquals(960, w.firstRecord);
        assertEquals(963, w.endRecord);
        assertEquals(1, w.calls);
        fill(ring, 2000, 2001);
        assertEquals("960!0: -960 +1000 +1001 +2000", numbers(ring.copy(960, Long.MAX_VALUE)));
    }

    /** An owner may lose its processor in the window for a long time. The sampler has other threads to see to. */
    @Test
    void aWindowThatItsOwnerUsesIsNotWaitedFor() throws Exception {
        Ring ring = RingTest.fixed(Thread.currentThread(), 1024);
        ring.rings.overwrite = false;
        fill(ring, 1, 1000);
        ring.copied(960);
        Field locked = Ring.class.getDeclaredField("locked");
        locked.setAccessible(true);
        locked.setInt(ring, 1);
        assertNull(ring.closeWindow(false));
        locked.setInt(ring, 0);
        assertEquals(960, ring.closeWindow(false).firstRecord);
    }

    @Test
    void aWindowThatIsGreaterThanTheRingIsClosedInParts() {
        Ring ring = RingTest.fixed(Thread.currentThread(), 1024);
        ring.rings.overwrite = false;
        fill(ring, 1, 3000);
        long[] all = new long[0];
        int parts = 0;
        for (;;) {
            RecordCopy c = ring.copy(all.length, Long.MAX_VALUE);
            assertEquals(0, c.overwritten);
            all = Arrays.copyOf(all, all.length + c.records.length);
            System.arraycopy(c.records, 0, all, all.length - c.records.length, c.records.length);
            ring.copied(all.length);
            if (ring.closeWindow(true) == null) {
                break;
            }
            parts++;
        }
        assertEquals(3, parts);
        assertEquals(2999, all.length);
        for (int k = 0; k < all.length; k++) {
            assertEquals(k + 1, all[k] >>> Ring.ID_SHIFT & 0xFFFFF);
        }
    }

    @Test
    void withoutMemoryAWindowLosesItsRecordsAndCountsThem() {
        Rings rings = new Rings(null, new MemoryBudget(1000), 1024);
        rings.overwrite = false;
        Ring ring = new Ring(rings, Thread.currentThread(), 1024);
        // Two short calls of the window are left out, and then entries come until there is no memory, and 5 more.
        fill(ring, 0, 960);
        for (int k = 0; k < 2; k++) {
            ring.put(Ring.ENTRY | 7L << Ring.ID_SHIFT);
            ring.put(7L << Ring.ID_SHIFT);
        }
        int entries = 0;
        while (entries < 70) {
            fill(ring, 1000, 1001);
            entries++;
        }
        assertEquals(960, ring.sequence());
        assertNull(ring.closeWindow(true), "not everything is copied");
        ring.copied(960);
        Window.Closed w = ring.closeWindow(true);
        assertEquals(960 + 70, w.firstRecord);
        assertEquals(960 + 70, w.endRecord);
        assertEquals(2, w.calls);
        assertEquals(0, rings.memory.used());
        fill(ring, 2000, 2002);
        assertEquals("1030!70: +2000 +2001", numbers(ring.copy(960, Long.MAX_VALUE)));
        assertEquals("1030!1030: +2000 +2001", numbers(ring.copy(0, Long.MAX_VALUE)));
        assertNull(ring.closeWindow(true));
    }

    /**
     * A thread makes nested calls as fast as it can while another copies slowly. Whatever is left out, what is copied
     * are complete calls that nest as the thread made them. In half of the rounds the ring grows meanwhile, at any
     * moment.
     */
    @Test
    void noOrderOfThreadsDamagesTheCalls() throws Exception {
        for (int round = 0; round < 20; round++) {
            final Random random = new Random(round);
            final AtomicBoolean stop = new AtomicBoolean();
            final boolean grows = round % 2 == 1;
            final ThreadTrace[] made = new ThreadTrace[1];
            final int[] path = new int[64];
            final int[] depth = new int[1];
            Thread app = new Thread() {
                @Override
                public void run() {
                    // A ring may take seven of the eight parts only, and a window all of them.
                    final int part = 1 << 20;
                    MemoryBudget memory = new MemoryBudget(8 * part);
                    boolean taken = true;
                    memory.takeAlways(7 * part);
                    ThreadTrace trace = RingTest.growing(memory, 1024, grows ? 1 << 15 : 1024, 0);
                    trace.existingRing().rings.overwrite = false;
                    synchronized (made) {
                        made[0] = trace;
                    }
                    int at = 0;
                    for (long n = 0; !stop.get(); n++) {
                        Ring ring = trace.existingRing();
                        if (random.nextInt(5000) == 0) {
                            memory.takeAlways(taken ? -7 * part : 7 * part);
                            taken = !taken;
                        }
                        if (at == 0 || at < path.length && random.nextBoolean()) {
                            path[at] = 1 + random.nextInt(1000000);
                            ring.put(Ring.ENTRY | (long) path[at++] << Ring.ID_SHIFT | n >> 8);
                        } else {
                            ring.put((long) path[--at] << Ring.ID_SHIFT | n >> 8);
                        }
                    }
                    depth[0] = at;
                }
            };
            app.start();
            ThreadTrace trace = null;
            while (trace == null) {
                synchronized (made) {
                    trace = made[0];
                }
            }
            // The app's thread may be here between two steps of a growth, so the copier has an old ring at times.
            Ring ring = trace.existingRing();
            int rings = 1;
            List<Integer> open = new ArrayList<Integer>();
            long next = 0;
            int windows = 0;
            // On a machine with one core a window closes only when the threads change, so time ends a round, too.
            long begin = System.nanoTime();
            for (int k = 0; windows < 200 || app.isAlive() || ring != trace.existingRing() || ring.sequence() > next;
                    k++) {
                if (k % 3 == 0 && ring != trace.existingRing()) {
                    ring = trace.existingRing();
                    ring.copied(next);
                    rings++;
                }
                if (windows > 0 && System.nanoTime() - begin > 300000000L) {
                    windows = Math.max(windows, 200);
                }
                if (windows >= 200 && (!grows || rings > 1)) {
                    stop.set(true);
                    app.join();
                }
                RecordCopy c = ring.copy(next, Long.MAX_VALUE);
                assertEquals(0, c.overwritten);
                next += c.records.length;
                for (long r : c.records) {
                    int id = (int) (r >>> Ring.ID_SHIFT) & 0xFFFFF;
                    if (r < 0) {
                        open.add(id);
                    } else {
                        assertTrue(open.size() > 0, "an exit too much");
                        assertEquals(open.remove(open.size() - 1).intValue(), id);
                    }
                }
                ring.copied(next);
                windows += ring.closeWindow(true) != null ? 1 : 0;
                if (k % 7 == 0) {
                    Thread.yield();
                }
            }
            assertEquals(grows, rings > 1);
            assertEquals(depth[0], open.size());
            for (int k = 0; k < depth[0]; k++) {
                assertEquals(path[k], open.get(k).intValue());
            }
        }
    }
}
