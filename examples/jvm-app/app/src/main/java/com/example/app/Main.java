package com.example.app;

import com.example.feed.Feed;
import com.example.feed.Item;

/** Prints the items of a feed. */
public final class Main {
    public static void main(String[] args) throws Exception {
        Feed feed = Feed.load("/feed.json");
        String wanted = args.length == 0 ? "" : args[0];
        int shown = 0;
        for (Item item : feed.items()) {
            if (item.title().contains(wanted)) {
                render(item);
                shown++;
            }
        }
        System.out.println(shown + " of " + feed.items().size() + " items");
    }

    private static void render(Item item) throws InterruptedException {
        // A slow disk, or a slow network: the report shows it.
        Thread.sleep(Long.getLong("example.delay", 0));
        System.out.println("- " + item.title() + " (" + item.words() + " words)");
    }
}
