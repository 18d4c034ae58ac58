package shop;

import java.util.HashMap;
import java.util.Map;

/** The prices of all items. The refresh holds the lock for too long. */
final class Prices {
    private final Map<String, Double> prices = new HashMap<>();

    synchronized double of(String item) {
        return prices.computeIfAbsent(item, this::download);
    }

    private double download(String item) {
        return 1 + item.hashCode() % 100 / 10.0;
    }

    /** Starts a thread that loads all prices, and returns when it has the lock. */
    void refreshInBackground() throws InterruptedException {
        Object began = new Object();
        Thread refresh = new Thread(() -> refresh(began), "price refresh");
        synchronized (began) {
            refresh.start();
            began.wait();
        }
    }

    private synchronized void refresh(Object began) {
        synchronized (began) {
            began.notify();
        }
        long end = System.nanoTime() + 600_000_000L;
        while (System.nanoTime() < end) {
            load();
        }
    }

    private void load() {
        for (int i = 0; i < 100; i++) {
            prices.put("item " + i, download("item " + i));
        }
    }
}
