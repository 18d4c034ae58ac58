package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A call tree without calls. */
public final class CallTree {
    /**
     * Creates an empty tree.
     *
     * @param records ignored
     * @param endTicks ignored
     */
    public CallTree(long[] records, long endTicks) {
    }

    /**
     * Returns the number of repairs.
     *
     * @return 0
     */
    public int repairs() {
        return 0;
    }

    /**
     * Returns the number of items.
     *
     * @return 0
     */
    public int size() {
        return 0;
    }

    /**
     * Returns the longest items.
     *
     * @param max ignored
     * @return an empty list
     */
    public List<CallItem> longest(int max) {
        return new ArrayList<CallItem>();
    }

    /**
     * Returns the key of the tree.
     *
     * @return 16 zeros
     */
    public String stackKey() {
        return "0000000000000000";
    }

    /**
     * Returns no methods.
     *
     * @return empty
     */
    public List<Integer> hotPath() {
        return Collections.emptyList();
    }
}
