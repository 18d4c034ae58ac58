package app;

import android.os.Handler;
import java.util.concurrent.CountDownLatch;

/** The methods of an app that stalls in seven ways, one for each. */
public final class Shop {
    public void showOffer() throws InterruptedException {
        Thread.sleep(900);
    }

    public void evictImages() throws InterruptedException {
        Thread.sleep(900);
    }

    public void createCart() throws InterruptedException {
        Thread.sleep(900);
    }

    public void drawGrid() throws InterruptedException {
        Thread.sleep(900);
    }

    public void refreshPrice() throws InterruptedException {
        Thread.sleep(4);
    }

    public void saveOrder(Object lock) {
        synchronized (lock) {
            lock.notifyAll();
        }
    }

    public void syncAll(CountDownLatch answered) throws InterruptedException {
        answered.await();
    }

    public void offerLater(Handler h, Runnable r) {
        h.post(r);
    }
}
