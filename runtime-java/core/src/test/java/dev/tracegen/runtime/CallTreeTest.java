package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class CallTreeTest {
    private static final int D = AppMethodBeat.METHOD_ID_DISPATCH;

    /** Returns records from words: {@code +ID@TIME} and {@code -ID@TIME}; D is the dispatch. */
    static long[] records(String text) {
        String[] words = text.split(" ");
        long[] records = new long[words.length];
        for (int k = 0; k < words.length; k++) {
            int at = words[k].indexOf('@');
            String id = words[k].substring(1, at);
            records[k] = (words[k].charAt(0) == '+' ? Ring.ENTRY : 0)
                    | (id.equals("D") ? D : Long.parseLong(id)) << Ring.ID_SHIFT
                    | Long.parseLong(words[k].substring(at + 1));
        }
        return records;
    }

    private static void check(String records, long end, int repairs, String... items) {
        CallTree tree = new CallTree(records(records), end);
        StringBuilder got = new StringBuilder();
        for (CallItem item : tree.longest(1000)) {
            got.append(item).append(' ');
        }
        assertEquals(String.join(" ", items), got.toString().trim().replace(String.valueOf(D), "D"), records);
        assertEquals(repairs, tree.repairs(), records);
        assertEquals(items.length, tree.size(), records);
    }

    @Test
    void completeRecords() {
        check("+D@0 +1@5 +2@6 -2@9 -1@20 -D@30", 30, 0, "0,D,1,30", "1,1,1,15", "2,2,1,3");
        check("+1@0 -1@4 +2@4 -2@9", 9, 0, "0,1,1,4", "0,2,1,5");
    }

    @Test
    void neighboursOfOneMethodAreMergedWithWhatTheyCall() {
        check("+1@0 +2@0 -2@1 -1@2 +1@2 +2@2 -2@4 +3@4 -3@5 -1@6", 6, 0, "0,1,2,6", "1,2,2,3", "1,3,1,1");
        check("+1@0 -1@1 +2@1 -2@1 +1@1 -1@2", 2, 0, "0,1,1,1", "0,2,1,0", "0,1,1,1");
    }

    @Test
    void recursionIsNotMergedWithItsCaller() {
        check("+1@0 +1@1 -1@3 -1@4", 4, 0, "0,1,1,4", "1,1,1,2");
    }

    @Test
    void repairsChangeNoOtherCall() {
        // 2 never exits, as after an exception.
        check("+1@0 +2@1 +3@2 -3@3 -1@10", 10, 1, "0,1,1,10", "1,2,1,9", "2,3,1,1");
        // The ring begins in a call of 7.
        check("-7@0 +1@1 -1@4", 4, 1, "0,1,1,3");
        // A time before that of the record before.
        check("+1@10 +2@12 -2@3 -1@20", 20, 1, "0,1,1,10", "1,2,1,0");
        // A dispatch within a dispatch.
        check("+D@0 +1@1 +D@5 -D@8", 8, 2, "0,D,2,8", "1,1,1,4");
        // Open at the end.
        check("+D@0 +1@1 +2@2", 9, 0, "0,D,1,9", "1,1,1,8", "2,2,1,7");
    }

    @Test
    void deepAndWideTreesAreBuiltInOnePass() {
        int n = 300000;
        long[] deep = new long[2 * n];
        long[] wide = new long[2 * n];
        for (int k = 0; k < n; k++) {
            deep[k] = Ring.ENTRY | (long) (k % 1000 + 1) << Ring.ID_SHIFT;
            deep[2 * n - 1 - k] = (long) (k % 1000 + 1) << Ring.ID_SHIFT | 5;
            wide[2 * k] = Ring.ENTRY | (long) (k % 1000 + 1) << Ring.ID_SHIFT | k;
            wide[2 * k + 1] = (long) (k % 1000 + 1) << Ring.ID_SHIFT | k + 1;
        }
        assertEquals(n, new CallTree(deep, 5).size());
        assertEquals(n, new CallTree(wide, n).size());
        // Every exit is of a method that is not open, with everything open.
        for (int k = n; k < 2 * n; k++) {
            deep[k] = 2000L << Ring.ID_SHIFT;
        }
        assertEquals(n, new CallTree(deep, 5).repairs());
    }

    @Test
    void everyOpenCallIsFound() {
        // Enough methods to grow every table, in an order that uses all slots.
        for (int n = 1; n < 3000; n += 13) {
            long[] records = new long[2 * n];
            for (int k = 0; k < n; k++) {
                long id = 1 + (long) k * 7919 % 1048573;
                records[k] = Ring.ENTRY | id << Ring.ID_SHIFT;
                records[2 * n - 1 - k] = id << Ring.ID_SHIFT;
            }
            CallTree tree = new CallTree(records, 0);
            assertEquals(n, tree.size());
            assertEquals(0, tree.repairs());
        }
    }

    @Test
    void longestIncludesAllCallers() {
        List<CallItem> items = new CallTree(
                records("+D@0 +1@0 +2@0 -2@50 -1@50 +3@50 -3@51 +4@51 +5@60 -5@99 -4@100 -D@100"), 100).longest(5);
        assertEquals("[0,1048574,1,100, 1,1,1,50, 2,2,1,50, 1,4,1,49, 2,5,1,39]", items.toString());
    }

    @Test
    void oneHotPathHasOneKey() {
        String key = new CallTree(records("+D@0 +1@0 +2@0 -2@80 -1@90 +3@90 -3@100 -D@100"), 100).stackKey();
        assertEquals(16, key.length());
        assertEquals(key, new CallTree(records("+D@7 +3@7 -3@9 +1@9 +2@9 -2@700 -1@707 -D@707"), 707).stackKey());
        assertNotEquals(key, new CallTree(records("+D@0 +1@0 +4@0 -4@80 -1@90 -D@100"), 100).stackKey());
        assertNotEquals(key, new CallTree(records("+D@0 +2@0 +1@0 -1@80 -2@90 -D@100"), 100).stackKey());
        assertTrue(new CallTree(new long[0], 0).stackKey().length() == 16);
    }
}
