package shop;

import java.util.ArrayList;
import java.util.List;

/** A program for a JVM that uses nothing of Android. Which methods it calls, and how often, is always the same. */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) throws Exception {
        final Cart cart = new Cart();
        Thread other = new Thread(new Runnable() {
            @Override
            public void run() {
                System.out.println(cart.total(5 + cart.size()));
            }
        });
        other.start();
        other.join();
    }

    private static final class Cart {
        private final List<Integer> items = new ArrayList<Integer>();

        int size() {
            return items.size();
        }

        int total(int n) {
            for (int k = 0; k < n; k++) {
                add(k);
            }
            int sum = 0;
            for (int item : items) {
                sum += item;
            }
            return sum;
        }

        /** Long enough to be traced, and not to be put into its caller. */
        void add(int item) {
            String text = "";
            for (int k = 0; k < item; k++) {
                text += Integer.toString(k * item) + ", ";
            }
            items.add(text.length());
        }
    }
}
