package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.List;

/** The calls of a stretch of records. Here: none. */
public final class CallTree {
    /**
     * The tree of no records.
     *
     * @param records ignored
     * @param endTicks ignored
     */
    public CallTree(long[] records, long endTicks) {
    }

    /**
     * How many places had to be mended.
     *
     * @return 0
     */
    public int repairs() {
        return 0;
    }

    /**
     * How many items there are.
     *
     * @return 0
     */
    public int size() {
        return 0;
    }

    /**
     * The items that took longest.
     *
     * @param max ignored
     * @return an empty list
     */
    public List<CallItem> longest(int max) {
        return new ArrayList<CallItem>();
    }

    /**
     * A hash of the methods on the hot path, of which there are none.
     *
     * @return 16 zeros
     */
    public String stackKey() {
        return "0000000000000000";
    }
}
