package shop;

import java.util.ArrayList;
import java.util.List;

/** The names of the items that a customer wants. */
final class Order {
    final int number;
    final List<String> items = new ArrayList<>();

    private Order(int number) {
        this.number = number;
    }

    /** Returns an order that depends on its number alone. */
    static Order number(int number) {
        Order order = new Order(number);
        for (int i = 0; i <= number % 3; i++) {
            order.items.add(Search.name((number * 7 + i) % 100));
        }
        return order;
    }
}
