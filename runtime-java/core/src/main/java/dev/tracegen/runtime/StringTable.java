package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The numbers of the strings of a file. A string that is used for the first time is new until the chunk that has it is
 * written. If that fails, it is forgotten: the file does not have it, and its number is used again.
 */
final class StringTable {
    private final Map<String, Integer> numbers = new HashMap<String, Integer>();
    private final List<String> fresh = new ArrayList<String>();

    StringTable() {
        clear();
    }

    /** Forgets all strings, for another file. */
    void clear() {
        numbers.clear();
        numbers.put("", 0);
        fresh.clear();
    }

    /** Returns the number of a string, 0 for null. */
    int number(String s) {
        String key = s == null ? "" : s;
        Integer known = numbers.get(key);
        if (known != null) {
            return known;
        }
        int number = numbers.size();
        numbers.put(key, number);
        fresh.add(key);
        return number;
    }

    /** Returns how many strings there are, with the empty one. */
    int size() {
        return numbers.size();
    }

    boolean hasNew() {
        return !fresh.isEmpty();
    }

    /** Writes the payload of a STRINGS chunk with the new strings. */
    void payload(ChunkBytes to) {
        to.uv(numbers.size() - fresh.size()).uv(fresh.size());
        for (String s : fresh) {
            to.str(s);
        }
    }

    /** Notes that the new strings are in the file. */
    void written() {
        fresh.clear();
    }

    /** Forgets the new strings, because they are not in the file. */
    void notWritten() {
        for (String s : fresh) {
            numbers.remove(s);
        }
        fresh.clear();
    }
}
