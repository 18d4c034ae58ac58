package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class RingTest {
    /** How many records the stress test puts; a complete run puts 1,000,000,000. */
    private static final long STRESS = Long.getLong("tracegen.stress");

    private static final long COPIES = 1000;

    private static Ring ring(int capacity, int records) {
        Ring ring = new Ring(Thread.currentThread(), capacity);
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
        check(ring(8, 0).copy(0, Long.MAX_VALUE), 0, 0);
        check(ring(8, 3).copy(0, Long.MAX_VALUE), 0, 0, 100, 101, 102);
        check(ring(8, 3).copy(1, 2), 1, 0, 101);
        check(ring(8, 3).copy(2, 2), 2, 0);
        check(ring(8, 3).copy(3, 9), 3, 0);
        check(ring(8, 8).copy(-5, 3), 0, 0, 100, 101, 102);
    }

    @Test
    void overwrittenRecordsAreCounted() {
        check(ring(8, 11).copy(0, Long.MAX_VALUE), 3, 3, 103, 104, 105, 106, 107, 108, 109, 110);
        check(ring(8, 11).copy(0, 4), 3, 3, 103);
        check(ring(8, 11).copy(0, 2), 2, 2);
        check(ring(8, 11).copy(2, 3), 3, 1);
    }

    @Test
    void aCopyOnAnotherThreadOmitsHalfOverwrittenRecords() throws Exception {
        final Ring ring = ring(8, 11);
        final AtomicReference<RecordCopy> copy = new AtomicReference<RecordCopy>();
        Thread other = new Thread(new Runnable() {
            @Override
            public void run() {
                copy.set(ring.copy(0, Long.MAX_VALUE));
            }
        });
        other.start();
        other.join();
        check(copy.get(), 4, 4, 104, 105, 106, 107, 108, 109, 110);
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
                Ring ring = new Ring(Thread.currentThread(), 4096);
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
}
