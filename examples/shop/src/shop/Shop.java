package shop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Handles orders, one after the other, on the main thread. Some of them take long, each for another reason. */
public final class Shop {
    private final Prices prices = new Prices();
    private final Journal journal;
    private final Search search = new Search();

    Shop(Journal journal) {
        this.journal = journal;
    }

    /** Handles one order. tracegen.yml declares its calls to be messages. */
    double handle(Order order) throws IOException {
        double total = 0;
        for (String item : order.items) {
            total += prices.of(search.find(item));
        }
        journal.append(order, total);
        return total;
    }

    public static void main(String[] args) throws Exception {
        boolean fixed = args.length > 0 && args[0].equals("fixed");
        Shop shop = new Shop(new Journal());
        List<Order> orders = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            orders.add(Order.number(i));
        }
        double sum = 0;
        for (int i = 0; i < orders.size(); i++) {
            if (i == 10 && !fixed) {
                shop.prices.refreshInBackground();
            }
            if (i == 20) {
                shop.search.forget();
            }
            if (i == 30) {
                shop.journal.flushNext();
            }
            sum += shop.handle(orders.get(i));
            Thread.sleep(20);
        }
        System.out.printf("%d orders, %.2f%n", orders.size(), sum);
    }
}
