package app;

import java.util.List;

/** Has one method that is slow, and one that is called often. */
final class Feed {
    private final int size;
    private final int waits;

    Feed(int size, int waits) {
        this.size = size;
        this.waits = waits;
    }

    int size() {
        return size;
    }

    /** Returns a text. A loop keeps the filter from leaving the method out. */
    String entry(int number) {
        StringBuilder b = new StringBuilder();
        for (int k = 0; k <= number % 7; k++) {
            b.append((char) ('a' + k));
        }
        return b.toString();
    }

    /** Waits for as long as a slow disk would take. */
    int load(List<String> lines) throws InterruptedException {
        int most = 0;
        for (String line : lines) {
            most = Math.max(most, line.length());
        }
        waitForDisk();
        return most;
    }

    private void waitForDisk() throws InterruptedException {
        for (int k = 0; k < waits; k++) {
            Thread.sleep(20);
        }
    }
}
