package plant;

import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;

/** An extension function for Xalan that waits for a lock. */
public final class Stock {
    /** On a busy machine the program takes longer to get here, and the wait must be most of the time. */
    private static final long MILLIS = Math.max(4000, 3 * (System.currentTimeMillis()
            - ManagementFactory.getRuntimeMXBean().getStartTime()));

    private static final Object SHELF = new Object();

    private Stock() {
    }

    public static String price(String item) throws InterruptedException {
        return "price of " + lookUp(item);
    }

    private static String lookUp(String item) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        Thread restocker = new Thread(() -> restock(held), "restocker");
        restocker.start();
        held.await();
        return take(item);
    }

    private static void restock(CountDownLatch held) {
        synchronized (SHELF) {
            held.countDown();
            try {
                Thread.sleep(MILLIS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static String take(String item) {
        synchronized (SHELF) {
            return item.trim();
        }
    }
}
