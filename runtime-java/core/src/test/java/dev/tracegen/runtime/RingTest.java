package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class RingTest {
    /** How many records the stress test puts; a complete run puts 1,000,000,000. */
    private static final long STRESS = Long.getLong("tracegen.stress");

    private static final long COPIES = 1000;

    /** Returns a ring that does not grow. */
    static Ring fixed(Thread owner, int capacity) {
        return new Ring(new Rings(null, new MemoryBudget(1 << 30), capacity), owner, capacity);
    }

    /** Returns a trace of this thread, whose ring has some capacity and grows. */
    static ThreadTrace growing(int capacity, int most, long first) {
        return growing(new MemoryBudget(1 << 30), capacity, most, first);
    }

    static ThreadTrace growing(MemoryBudget memory, int capacity, int most, long first) {
        ThreadTrace trace = new ThreadTrace(null, Thread.currentThread(), 0, true, true);
        trace.replaceRing(null, new Ring(new Rings(null, memory, most), trace, capacity, first));
        return trace;
    }

    private static Ring ring(int capacity, int records) {
        Ring ring = fixed(Thread.currentThread(), capacity);
        for (int k = 0; k < records; k++) {
            ring.put(100 + k);
        }
        return ring;
    }

    private static void check(RecordCopy copy, long first, long overwritten, long... records) {
        assertArrayEquals(records, copy.records);
        assertEquals(first, copy.firstSequence);
        assertEquals(overwritten, copy.overwritten);
    }

    @Test
    void aCopyHasTheRecordsThatWerePut() {
        check(ring(256, 0).copy(0, Long.MAX_VALUE), 0, 0);
        check(ring(256, 3).copy(0, Long.MAX_VALUE), 0, 0, 100, 101, 102);
        check(ring(256, 3).copy(1, 2), 1, 0, 101);
        check(ring(256, 3).copy(2, 2), 2, 0);
        check(ring(256, 3).copy(3, 9), 3, 0);
        check(ring(256, 256).copy(-5, 3), 0, 0, 100, 101, 102);
    }

    /** A segment is cleared before its first record is put. */
    @Test
    void overwrittenRecordsAreCounted() {
        RecordCopy all = ring(256, 259).copy(0, Long.MAX_VALUE);
        assertEquals(64, all.firstSequence);
        assertEquals(64, all.overwritten);
        assertEquals(195, all.records.length);
        assertEquals(358, all.records[194]);
        check(ring(256, 259).copy(0, 65), 64, 64, 164);
        check(ring(256, 259).copy(0, 2), 2, 2);
        check(ring(256, 259).copy(63, 65), 64, 1, 164);
    }

    private static RecordCopy onAnotherThread(final Ring ring, final long from) throws Exception {
        final AtomicReference<RecordCopy> copy = new AtomicReference<RecordCopy>();
        Thread other = new Thread(new Runnable() {
            @Override
            public void run() {
                copy.set(ring.copy(from, Long.MAX_VALUE));
            }
        });
        other.start();
        other.join();
        return copy.get();
    }

    @Test
    void aCopyOnAnotherThreadHasTheLastRecords() throws Exception {
        RecordCopy copy = onAnotherThread(ring(256, 259), 0);
        assertEquals(64, copy.firstSequence);
        assertEquals(64, copy.overwritten);
        assertEquals(195, copy.records.length);
        check(onAnotherThread(ring(256, 3), 1), 1, 0, 101, 102);
        check(onAnotherThread(ring(256, 3), 7), 7, 0);
    }

    /** As if the stores of the last records were seen by halves, or in another order than that of the owner. */
    @Test
    void aCopyOnAnotherThreadEndsAtARecordThatIsNotComplete() throws Exception {
        for (long half : new long[] {0, 105, 1L << 40}) {
            Ring ring = ring(256, 6);
            ring.slots[4] = half;
            check(onAnotherThread(ring, 2), 2, 0, 102, 103);
        }
    }

    @Test
    void aFullRingIsReplacedByALargerOneWithItsRecords() {
        ThreadTrace trace = growing(1024, 8192, 0);
        Ring first = trace.existingRing();
        for (int k = 0; k < 1024; k++) {
            first.put(k);
            assertSame(first, trace.existingRing());
        }
        first.put(1024);
        Ring second = trace.existingRing();
        assertEquals(4096, second.length());
        // An owner that still has the old ring puts its records into the new one.
        first.put(1025);
        assertEquals(1024, first.sequence());
        check(first.copy(1022, Long.MAX_VALUE), 1022, 0, 1022, 1023);
        assertEquals(1026, second.sequence());
        assertEquals(1026, second.copy(0, Long.MAX_VALUE).records.length);
        for (int k = 1026; k < 20000; k++) {
            trace.existingRing().put(k);
        }
        Ring last = trace.existingRing();
        assertEquals(8192, last.length());
        RecordCopy c = last.copy(0, Long.MAX_VALUE);
        // The last segment was claimed up to its end.
        assertEquals(20480 - 8192, c.firstSequence);
        assertEquals(20480 - 8192, c.overwritten);
        for (int k = 0; k < c.records.length; k++) {
            assertEquals(c.firstSequence + k, c.records[k]);
        }
        assertEquals((8192 - 1024) * 8, last.rings.memory.used(), "the first ring was not taken");
    }

    @Test
    void aRingThatFollowsDroppedRecordsHasNoneOfThem() {
        ThreadTrace trace = growing(1024, 4096, 700);
        for (int k = 700; k < 3000; k++) {
            trace.existingRing().put(k);
        }
        RecordCopy c = trace.existingRing().copy(0, Long.MAX_VALUE);
        assertEquals(700, c.firstSequence);
        assertEquals(700, c.overwritten);
        assertEquals(2300, c.records.length);
    }

    @Test
    void withoutMemoryARingStaysAsItIs() {
        MemoryBudget memory = new MemoryBudget(8 * 1024);
        ThreadTrace trace = growing(memory, 1024, 1 << 20, 0);
        for (int k = 0; k < 10000; k++) {
            trace.existingRing().put(k);
        }
        assertEquals(1024, trace.existingRing().length());
        assertEquals(0, memory.used());
        check(trace.existingRing().copy(9998, Long.MAX_VALUE), 9998, 0, 9998, 9999);
        memory.resize(1 << 20);
        for (int k = 10000; k < 12000; k++) {
            trace.existingRing().put(k);
        }
        assertEquals(4096, trace.existingRing().length());
        check(trace.existingRing().copy(11999, Long.MAX_VALUE), 11999, 0, 11999);
    }

    private static long payload(long n) {
        return n << 24 | (n * 0x9E3779B97F4A7C15L >>> 40);
    }

    /** Copies the ring while it is written at full speed. No copy may hold a record under the number of another. */
    @Test
    void noCopyHasATornOrMisplacedRecord() throws Exception {
        final AtomicReference<Ring> made = new AtomicReference<Ring>();
        final AtomicLong copies = new AtomicLong();
        final AtomicLong overtaken = new AtomicLong();
        final Thread writer = new Thread(new Runnable() {
            @Override
            public void run() {
                // Small, so that records are overwritten during a copy.
                Ring ring = fixed(Thread.currentThread(), 4096);
                made.set(ring);
                // The other thread must have run often enough, however slow the machine is and if it has one core.
                for (long n = 0; n < STRESS || n % 4096 != 0 || copies.get() < COPIES || overtaken.get() == 0; n++) {
                    ring.put(payload(n));
                }
            }
        });
        writer.start();
        while (made.get() == null) {
            Thread.yield();
        }
        Ring ring = made.get();
        long good = 0;
        String wrong = null;
        while (writer.isAlive() && wrong == null) {
            long end = ring.sequence();
            RecordCopy c = ring.copy(end - 4096, end + 64);
            for (int k = 0; k < c.records.length && wrong == null; k++) {
                if (c.records[k] != payload(c.firstSequence + k)) {
                    wrong = "record " + (c.firstSequence + k) + " of a copy is number " + (c.records[k] >>> 24);
                }
            }
            copies.incrementAndGet();
            good += c.records.length;
            overtaken.addAndGet(c.overwritten > 1 ? 1 : 0);
        }
        copies.addAndGet(COPIES);
        overtaken.incrementAndGet();
        writer.join();
        assertNull(wrong);
        assertTrue(ring.sequence() >= STRESS);
        assertTrue(good > 0 && overtaken.get() > 1, "nothing was tested");
        System.out.println("measured: ring: " + ring.sequence() + " records put, "
                + (copies.get() - COPIES) + " copies meanwhile, " + (overtaken.get() - 1)
                + " of them overtaken, " + good + " records in them, all right");
    }

    /**
     * A ring grows at random moments while it is copied. All copies of the new ring, and of those that it has replaced,
     * hold the right record under each number.
     */
    @Test
    void copiesAreRightWhileARingGrows() throws Exception {
        long copies = 0;
        long rings = 0;
        for (int round = 0; round < 100; round++) {
            final Random random = new Random(round);
            final MemoryBudget memory = new MemoryBudget(0);
            final AtomicReference<ThreadTrace> made = new AtomicReference<ThreadTrace>();
            final AtomicLong looks = new AtomicLong();
            final long first = random.nextInt(10000);
            Thread writer = new Thread(new Runnable() {
                @Override
                public void run() {
                    ThreadTrace trace = growing(memory, 1024, 1 << 15, first);
                    made.set(trace);
                    long n = first;
                    int length = trace.existingRing().length();
                    while (length < 1 << 15) {
                        trace.existingRing().put(payload(n++));
                        if (trace.existingRing().length() != length) {
                            length = trace.existingRing().length();
                            // The other thread copies each ring, however slow the machine is.
                            long before = looks.get();
                            while (looks.get() >= 0 && looks.get() < before + 2) {
                                Thread.yield();
                            }
                        }
                        if (random.nextInt(3000) == 0) {
                            memory.resize(random.nextBoolean() ? 0 : 1 << 20);
                        }
                        if (n % 4096 == 0) {
                            Thread.yield();
                        }
                    }
                }
            });
            writer.start();
            while (made.get() == null) {
                Thread.yield();
            }
            List<Ring> all = new ArrayList<Ring>();
            String wrong = null;
            while (writer.isAlive() && wrong == null) {
                Ring now = made.get().existingRing();
                if (all.isEmpty() || all.get(all.size() - 1) != now) {
                    all.add(now);
                }
                for (Ring r : all) {
                    RecordCopy c = r.copy(0, Long.MAX_VALUE);
                    copies++;
                    if (c.overwritten != c.firstSequence || c.firstSequence < first) {
                        wrong = "the first record is " + c.firstSequence + ", lost are " + c.overwritten;
                    }
                    for (int k = 0; k < c.records.length && wrong == null; k++) {
                        if (c.records[k] != payload(c.firstSequence + k)) {
                            wrong = "record " + (c.firstSequence + k) + " is number " + (c.records[k] >>> 24);
                        }
                    }
                }
                looks.incrementAndGet();
            }
            looks.set(-1);
            writer.join();
            assertNull(wrong, "round " + round);
            rings += all.size();
        }
        assertTrue(rings > 300, "only " + rings + " rings were tested");
        System.out.println("measured: growing rings: " + copies + " copies of " + rings + " rings, all right");
    }
}
