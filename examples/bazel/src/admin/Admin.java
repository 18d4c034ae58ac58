package admin;

import feed.Feed;

/** Admin prints who works here. */
public final class Admin {
    public static void main(String[] args) {
        System.out.println("on duty: " + new Feed("Ada", "Ben").load());
    }
}
