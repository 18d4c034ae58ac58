package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.List;

/** The calls of a stretch of records. Here: none. */
public final class CallTree {
    /** One item of a tree. Immutable. */
    public static final class Item {
        /** How many callers are above it. */
        public final int depth;

        /** The method's ID. */
        public final int id;

        /** How many calls it stands for. */
        public final int count;

        /** How long they took, in ticks. */
        public final long ticks;

        Item(int depth, int id, int count, long ticks) {
            this.depth = depth;
            this.id = id;
            this.count = count;
            this.ticks = ticks;
        }

        /** The line of Matrix's reports, with ticks for milliseconds. */
        @Override
        public String toString() {
            return depth + "," + id + "," + count + "," + ticks;
        }
    }

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
    public List<Item> longest(int max) {
        return new ArrayList<Item>();
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
