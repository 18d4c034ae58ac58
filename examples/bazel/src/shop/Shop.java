package shop;

import feed.Feed;

/** Shop prints what it sells. */
public final class Shop {
    public static void main(String[] args) {
        System.out.println("for sale: " + new Feed("tea", "bread").load());
    }
}
