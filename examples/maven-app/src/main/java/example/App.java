package example;

import com.google.gson.Gson;
import java.util.ArrayList;
import java.util.List;

/** Writes orders as JSON and reads them again. Opening the store is slow. */
public final class App {
  /** One order. */
  static final class Order {
    int number;
    String item;
  }

  private App() {}

  public static void main(String[] args) throws InterruptedException {
    openStore();
    Gson gson = new Gson();
    String json = gson.toJson(orders(1000));
    Order[] read = gson.fromJson(json, Order[].class);
    System.out.println(read.length + " orders");
  }

  static void openStore() throws InterruptedException {
    for (int attempt = 0; attempt < 2; attempt++) {
      Thread.sleep(500);
    }
  }

  static List<Order> orders(int n) {
    List<Order> orders = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      Order order = new Order();
      order.number = i;
      order.item = "item " + i;
      orders.add(order);
    }
    return orders;
  }
}
