package feed;

import text.Text;

/** Feed is a list of entries. */
public final class Feed {
    private final String[] entries;

    public Feed(String... entries) {
        this.entries = entries;
    }

    public String load() {
        debug("load");
        return Text.join(entries, ", ");
    }

    private void debug(String what) {
        if (System.getenv("FEED_DEBUG") != null) {
            System.err.println("feed: " + what);
        }
    }
}
