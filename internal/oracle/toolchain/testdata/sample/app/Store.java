package app;

import java.util.List;

/** Ends one call by an exception that its caller catches. */
final class Store {
    int sum(List<String> lines) {
        int all = 0;
        for (String line : lines) {
            try {
                all += weight(line);
            } catch (IllegalArgumentException e) {
                all--;
            }
        }
        return all;
    }

    private int weight(String line) {
        if (line.length() > 6) {
            throw new IllegalArgumentException(line);
        }
        int weight = 0;
        for (int k = 0; k < line.length(); k++) {
            weight += line.charAt(k);
        }
        return weight;
    }
}
