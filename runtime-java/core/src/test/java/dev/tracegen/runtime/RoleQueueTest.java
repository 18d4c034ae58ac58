package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class RoleQueueTest {
    private final MemoryBudget memory = new MemoryBudget(1 << 20);

    @Test
    void aFullQueueRefusesAndFreesWhatWasHandled() {
        RoleQueue<String> queue = new RoleQueue<String>(2, memory);
        assertTrue(queue.add("a", 5));
        assertTrue(queue.add("b", 7));
        assertFalse(queue.add("c", 1));
        assertEquals(12, queue.bytes());
        assertEquals("a", queue.next());
        assertEquals(12, queue.bytes(), "what is in work counts");
        assertEquals(0, queue.free());
        queue.remove();
        assertEquals(7, queue.bytes());
        assertTrue(queue.add("c", 1));
        assertEquals("b", queue.next());
        queue.remove();
        queue.close();
        assertEquals("c", queue.next());
        queue.remove();
        assertNull(queue.next());
        assertEquals(0, queue.bytes());
        assertEquals(3, queue.removed());
    }

    /** A small queue, so that both threads often find it full or empty, and the taking thread waits and is woken. */
    @Test
    void elementsArriveInTheirOrder() throws Exception {
        final int n = 300000;
        final RoleQueue<long[]> queue = new RoleQueue<long[]>(3, memory);
        final AtomicReference<String> wrong = new AtomicReference<String>();
        Thread taker = new Thread("taker") {
            @Override
            public void run() {
                long expected = 0;
                for (long[] e = queue.next(); e != null; e = queue.next()) {
                    if (e[0] != expected || e[1] != -expected) {
                        wrong.set("got " + e[0] + "/" + e[1] + ", want " + expected);
                    }
                    expected++;
                    queue.remove();
                }
                if (expected != n) {
                    wrong.set("the queue ended behind " + expected + " elements");
                }
            }
        };
        taker.start();
        for (long k = 0; k < n; k++) {
            long[] e = {k, -k};
            while (!queue.add(e, 8)) {
                if (k % 3 == 0) {
                    taker.interrupt();
                }
                Thread.yield();
            }
        }
        queue.close();
        Await.until("all is taken", () -> !taker.isAlive());
        assertNull(wrong.get());
        assertEquals(0, queue.bytes());
    }
}
