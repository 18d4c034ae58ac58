package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;

/**
 * The call tree of a sequence of records. Calls of one method that follow each other in the same caller are one item
 * with a count. Immutable.
 *
 * <p>Records may be incomplete: an exit is missing where an exception was thrown, a ring begins in the middle of a
 * call, a message ends before its calls. Each damaged place is repaired and counted, and other calls keep their
 * times:
 * <ul>
 * <li>an exit of an open method also ends the calls inside of that method;
 * <li>an exit of a method that is not open is dropped;
 * <li>a dispatch ends all open calls;
 * <li>a time that is before the last record's is replaced by the last record's;
 * <li>calls that are open at the end end there; this is not counted as a repair.
 * </ul>
 * The tree is built in one pass without recursion. Its memory grows with the number of items.
 */
public final class CallTree {
    private static final int MIN_ITEMS = 64;

    private int items;
    private int[] ids = new int[MIN_ITEMS];
    private int[] parents = new int[MIN_ITEMS];
    private int[] depths = new int[MIN_ITEMS];
    private int[] lastChild = new int[MIN_ITEMS];
    private int[] counts = new int[MIN_ITEMS];
    private long[] ticks = new long[MIN_ITEMS];
    private int lastRoot = -1;
    private int repairs;
    private final long total;

    /**
     * Builds the tree.
     *
     * @param records as in {@link RecordCopy}, the oldest first
     * @param endTicks when the sequence ended, in ticks, for calls that are still open; at least the time of the last
     *     record is used
     */
    public CallTree(long[] records, long endTicks) {
        Open open = new Open();
        long begin = records.length == 0 ? 0 : records[0] & Ring.TIME_MASK;
        long now = begin;
        for (long r : records) {
            long time = r & Ring.TIME_MASK;
            if (time < now) {
                repairs++;
            } else {
                now = time;
            }
            int id = (int) (r >>> Ring.ID_SHIFT) & 0xFFFFF;
            if (r < 0) {
                if (id == AppMethodBeat.METHOD_ID_DISPATCH) {
                    repairs += open.size;
                    closeTo(open, 0, now);
                }
                open.push(enter(open.top(), id), now, id);
            } else if (!open.contains(id)) {
                repairs++;
            } else {
                int at = open.last(id, ids);
                repairs += open.size - 1 - at;
                closeTo(open, at, now);
            }
        }
        now = Math.max(now, endTicks);
        closeTo(open, 0, now);
        total = now - begin;
    }

    private void closeTo(Open open, int size, long now) {
        while (open.size > size) {
            int item = open.items[open.size - 1];
            ticks[item] += now - open.begins[open.size - 1];
            open.pop(ids[item]);
        }
    }

    /**
     * Returns the item of a call in a caller, -1 for no caller: the caller's last item if that is of the same method.
     */
    private int enter(int caller, int id) {
        int last = caller < 0 ? lastRoot : lastChild[caller];
        if (last >= 0 && ids[last] == id) {
            counts[last]++;
            return last;
        }
        if (items == ids.length) {
            grow();
        }
        ids[items] = id;
        parents[items] = caller;
        depths[items] = caller < 0 ? 0 : depths[caller] + 1;
        counts[items] = 1;
        lastChild[items] = -1;
        if (caller >= 0) {
            lastChild[caller] = items;
        } else {
            lastRoot = items;
        }
        return items++;
    }

    private void grow() {
        int n = items * 2;
        ids = Arrays.copyOf(ids, n);
        parents = Arrays.copyOf(parents, n);
        depths = Arrays.copyOf(depths, n);
        lastChild = Arrays.copyOf(lastChild, n);
        counts = Arrays.copyOf(counts, n);
        ticks = Arrays.copyOf(ticks, n);
    }

    /** The open calls, and how many of them each method has. */
    private static final class Open {
        int size;
        int[] items = new int[MIN_ITEMS];
        long[] begins = new long[MIN_ITEMS];
        private final HashMap<Integer, Integer> counts = new HashMap<Integer, Integer>();

        int top() {
            return size == 0 ? -1 : items[size - 1];
        }

        void push(int item, long begin, int id) {
            if (size == items.length) {
                items = Arrays.copyOf(items, 2 * size);
                begins = Arrays.copyOf(begins, 2 * size);
            }
            items[size] = item;
            begins[size++] = begin;
            Integer before = counts.get(id);
            counts.put(id, before == null ? 1 : before + 1);
        }

        void pop(int id) {
            size--;
            counts.put(id, counts.get(id) - 1);
        }

        boolean contains(int id) {
            Integer n = counts.get(id);
            return n != null && n > 0;
        }

        /** Returns the index of the innermost open call of a method. The method must have one. */
        int last(int id, int[] ids) {
            int k = size - 1;
            while (ids[items[k]] != id) {
                k--;
            }
            return k;
        }
    }

    /**
     * Returns how many damaged places were repaired.
     *
     * @return 0 if the records were complete
     */
    public int repairs() {
        return repairs;
    }

    /**
     * Returns the number of items.
     *
     * @return 0 if there were no records
     */
    public int size() {
        return items;
    }

    /**
     * Returns the items with the longest total times, and all their callers.
     *
     * @return callers before the methods they call, in the order of the first calls
     */
    public List<CallItem> longest(int max) {
        Integer[] order = new Integer[items];
        for (int k = 0; k < items; k++) {
            order[k] = k;
        }
        // A call is never longer than its caller and comes after it, so no item is taken without its callers.
        Arrays.sort(order, new Comparator<Integer>() {
            @Override
            public int compare(Integer a, Integer b) {
                return ticks[a] != ticks[b] ? Long.compare(ticks[b], ticks[a]) : a - b;
            }
        });
        List<Integer> taken = new ArrayList<Integer>(Arrays.asList(order).subList(0, Math.min(max, items)));
        Collections.sort(taken);
        List<CallItem> result = new ArrayList<CallItem>(taken.size());
        for (int k : taken) {
            result.add(new CallItem(depths[k], ids[k], counts[k], ticks[k]));
        }
        return result;
    }

    /**
     * Returns a key that is equal for trees with the same hot path: a hash of the methods on it. The hot path leads
     * from the longest outermost call to the longest call in it, and so on, while that call lasts at least three
     * tenths of the total time. The dispatch itself is left out.
     *
     * @return 16 hexadecimal digits
     */
    public String stackKey() {
        long hash = 0xCBF29CE484222325L;
        for (int id : hotPath()) {
            for (int shift = 0; shift < 32; shift += 8) {
                hash = (hash ^ (id >>> shift & 0xFF)) * 0x100000001B3L;
            }
        }
        String hex = Long.toHexString(hash);
        return "0000000000000000".substring(hex.length()) + hex;
    }

    /**
     * Returns the methods of the hot path, see {@link #stackKey}.
     *
     * @return IDs, the outermost call first; empty if no call is long enough
     */
    public List<Integer> hotPath() {
        List<Integer> path = new ArrayList<Integer>();
        int[] heaviest = heaviestChildren();
        for (int k = heaviest[items]; k >= 0 && ticks[k] * 10 >= total * 3; k = heaviest[k]) {
            if (ids[k] != AppMethodBeat.METHOD_ID_DISPATCH) {
                path.add(ids[k]);
            }
        }
        return path;
    }

    /** Returns the longest child of each item, -1 if it has none. The last element is the longest outermost call. */
    private int[] heaviestChildren() {
        int[] heaviest = new int[items + 1];
        Arrays.fill(heaviest, -1);
        for (int k = 0; k < items; k++) {
            int caller = parents[k] < 0 ? items : parents[k];
            if (heaviest[caller] < 0 || ticks[k] > ticks[heaviest[caller]]) {
                heaviest[caller] = k;
            }
        }
        return heaviest;
    }
}
