package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * The calls of a stretch of records. Calls of one method that follow each other in one caller are one item with a
 * count. Immutable.
 *
 * <p>Records are never complete: exits are missing where an exception went by, a ring begins in the middle of a
 * call, a message ends under its calls. Each such place is mended and counted, and costs no other call:
 * <ul>
 * <li>an exit of a method that is open further out closes those within it too;
 * <li>an exit of a method that is not open is dropped;
 * <li>a dispatch closes all that is open;
 * <li>a time before the last is taken as the last;
 * <li>what is open at the end is closed there, which is no damage.
 * </ul>
 * Built in one pass, without recursion, in memory that follows the number of items.
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
     * The tree of records as {@link RecordCopy} holds them.
     *
     * @param records oldest first
     * @param endTicks when the stretch ended, for what is still open then; a time before the last record's is taken as that
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

    /** The item of a call in the given caller, -1 for none: the caller's last one if that is of the same method. */
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

    /** The open calls, and how often each method is among them. */
    private static final class Open {
        int size;
        int[] items = new int[MIN_ITEMS];
        long[] begins = new long[MIN_ITEMS];

        // Open addressing: a method's ID and how many of its calls are open. Entries stay when they fall to 0.
        private int[] keys = new int[4 * MIN_ITEMS];
        private int[] openCalls = new int[4 * MIN_ITEMS];
        private int used;

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
            // Before the table is named: finding the slot may bring a new one.
            int slot = slot(id);
            openCalls[slot]++;
        }

        void pop(int id) {
            size--;
            int slot = slot(id);
            openCalls[slot]--;
        }

        boolean contains(int id) {
            int slot = slot(id);
            return openCalls[slot] > 0;
        }

        /** Where the innermost open call of a method is, which is looked for only if there is one: what it passes is closed. */
        int last(int id, int[] ids) {
            int k = size - 1;
            while (ids[items[k]] != id) {
                k--;
            }
            return k;
        }

        private int slot(int id) {
            int mask = keys.length - 1;
            int k = id * 0x9E3779B1 >>> 8 & mask;
            while (keys[k] != id + 1) {
                if (keys[k] == 0) {
                    if (++used > keys.length / 2) {
                        rehash();
                        return slot(id);
                    }
                    keys[k] = id + 1;
                    break;
                }
                k = k + 1 & mask;
            }
            return k;
        }

        private void rehash() {
            int[] oldKeys = keys;
            int[] oldCalls = openCalls;
            keys = new int[2 * oldKeys.length];
            openCalls = new int[keys.length];
            used = 0;
            for (int k = 0; k < oldKeys.length; k++) {
                if (oldKeys[k] != 0) {
                    openCalls[slot(oldKeys[k] - 1)] = oldCalls[k];
                }
            }
        }
    }

    /**
     * How many places had to be mended.
     *
     * @return 0 if the records were whole
     */
    public int repairs() {
        return repairs;
    }

    /**
     * How many items there are.
     *
     * @return 0 if there were no records
     */
    public int size() {
        return items;
    }

    /**
     * The items that took longest, with all their callers.
     *
     * @param max how many at most
     * @return callers before what they call, and in the order of the first calls
     */
    public List<CallItem> longest(int max) {
        Integer[] order = new Integer[items];
        for (int k = 0; k < items; k++) {
            order[k] = k;
        }
        // A call is never longer than its caller, and comes after it: so no item is taken without its callers.
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
     * Equal for trees that are slow for the same reason: a hash of the methods on the hot path, which leads from the
     * outermost call to the longest within it, and on, while that is three tenths of the whole at least. The dispatch
     * itself is left out.
     *
     * @return 16 hexadecimal digits
     */
    public String stackKey() {
        long hash = 0xCBF29CE484222325L;
        int[] heaviest = heaviestChildren();
        for (int k = heaviest[items]; k >= 0 && ticks[k] * 10 >= total * 3; k = heaviest[k]) {
            for (int shift = 0; ids[k] != AppMethodBeat.METHOD_ID_DISPATCH && shift < 32; shift += 8) {
                hash = (hash ^ (ids[k] >>> shift & 0xFF)) * 0x100000001B3L;
            }
        }
        String hex = Long.toHexString(hash);
        return "0000000000000000".substring(hex.length()) + hex;
    }

    /** For each item its longest child, -1 if none; behind the last the longest root. */
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
