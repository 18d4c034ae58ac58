package dev.tracegen.devicecheck;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** The content of the app: what a start reads and sorts, and what each row of the list shows. */
final class Notes {
    private static final String[] WORDS = {"ring", "looper", "frame", "method", "stall", "queue", "thread", "lock"};

    private Notes() {
    }

    /** Returns notes from a text, sorted, as an app's start does with what it has stored. */
    static List<String> load(int count) {
        StringBuilder stored = new StringBuilder();
        for (int i = 0; i < count; i++) {
            stored.append(line(i)).append('\n');
        }
        List<String> notes = new ArrayList<>();
        for (String line : stored.toString().split("\n")) {
            notes.add(title(line));
        }
        Collections.sort(notes, Notes::compare);
        return notes;
    }

    static String line(int number) {
        return number * 7919 % 1000 + "=" + word(number) + " " + word(number / 3) + " " + word(number / 7);
    }

    static String title(String line) {
        int sign = line.indexOf('=');
        return line.substring(sign + 1).toUpperCase(Locale.ROOT) + " " + line.substring(0, sign);
    }

    static int compare(String one, String other) {
        int byLength = Integer.compare(one.length(), other.length());
        return byLength != 0 ? byLength : one.compareTo(other);
    }

    private static String word(int number) {
        return WORDS[Math.abs(number) % WORDS.length];
    }
}
