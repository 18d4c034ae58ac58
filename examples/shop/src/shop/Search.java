package shop;

import java.util.ArrayList;
import java.util.List;

/** Finds the item whose name is nearest to what the customer wrote. Its index is slow to build. */
final class Search {
    private List<String> index = build(100);

    /** Drops the index, so that the next search builds a larger one. */
    void forget() {
        index = null;
    }

    String find(String wanted) {
        if (index == null) {
            index = build(500);
        }
        String nearest = null;
        int best = Integer.MAX_VALUE;
        for (String item : index) {
            int distance = item.equals(wanted) ? 0 : 1 + Math.abs(item.length() - wanted.length());
            if (distance < best) {
                best = distance;
                nearest = item;
            }
        }
        return nearest;
    }

    /** Returns the full name of an item. */
    static String name(int i) {
        return "item " + i + ", from the shelf at the back of the warehouse";
    }

    private static List<String> build(int items) {
        List<String> index = new ArrayList<>();
        for (int i = 0; i < items; i++) {
            String item = name(i);
            if (!known(index, item)) {
                index.add(item);
            }
        }
        return index;
    }

    /** Compares with every entry, and each comparison is needlessly expensive. */
    private static boolean known(List<String> index, String item) {
        for (String other : index) {
            if (distance(item, other) == 0) {
                return true;
            }
        }
        return false;
    }

    /** The Levenshtein distance. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int above = row[j];
                int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                row[j] = Math.min(Math.min(row[j - 1], above) + 1, diagonal + change);
                diagonal = above;
            }
        }
        return row[b.length()];
    }
}
