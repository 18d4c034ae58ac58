package app;

import java.util.ArrayList;
import java.util.List;

/**
 * A program with one slow method. What it prints, which methods it calls and how often is always the same. The argument
 * is how many times 20 ms the slow method waits.
 */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) throws Exception {
        Feed feed = new Feed(40, Integer.parseInt(args[0]));
        List<String> lines = new ArrayList<String>();
        for (int k = 0; k < feed.size(); k++) {
            lines.add(feed.entry(k));
        }
        System.out.println(feed.load(lines) + " of " + lines.size() + ", " + new Store().sum(lines));
    }
}
