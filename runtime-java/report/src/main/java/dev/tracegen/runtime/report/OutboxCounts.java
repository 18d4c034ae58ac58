package dev.tracegen.runtime.report;

import java.io.File;
import java.io.IOException;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;

/** What an outbox counts for one process name, in a file: the reports that were lost, and the reports of each key. */
final class OutboxCounts {
    private static final long DAY_MILLIS = 86400000L;

    /** How many keys are counted. */
    private static final int MAX_KEYS = 256;

    private static final String RATE = "rate.";
    private static final String TOTAL = "total.";

    private final File file;
    private final Properties state;

    OutboxCounts(File file) {
        this.file = file;
        this.state = DiskFile.properties(file);
    }

    Map<String, Long> totals() {
        Map<String, Long> all = new TreeMap<String, Long>();
        for (String key : state.stringPropertyNames()) {
            if (key.startsWith(TOTAL)) {
                all.put(key.substring(TOTAL.length()), DiskFile.number(state, key, 0));
            }
        }
        return all;
    }

    void add(String reason, int more) {
        String key = TOTAL + reason;
        state.setProperty(key, Long.toString(DiskFile.number(state, key, 0) + more));
    }

    void save(File temporary) {
        try {
            DiskFile.replace(file, temporary, DiskFile.content(state), false);
        } catch (IOException e) {
            // It is in memory. The next change is written with it.
        }
    }

    /** Returns of a key the day, how many reports were written on it, and how many left out since the last one. */
    long[] rate(String key, long wallMillis) {
        String[] parts = state.getProperty(RATE + key, "").split(",");
        long[] rate = {wallMillis / DAY_MILLIS, 0, 0};
        if (parts.length == 3) {
            try {
                rate[2] = Long.parseLong(parts[2]);
                rate[1] = Long.parseLong(parts[0]) == rate[0] ? Long.parseLong(parts[1]) : 0;
            } catch (NumberFormatException e) {
                rate[1] = 0;
            }
        }
        return rate;
    }

    void keepRate(String key, long[] rate) {
        state.setProperty(RATE + key, rate[0] + "," + rate[1] + "," + rate[2]);
        TreeSet<String> rates = new TreeSet<String>();
        for (String name : state.stringPropertyNames()) {
            if (name.startsWith(RATE)) {
                rates.add(name);
            }
        }
        if (rates.size() > MAX_KEYS) {
            removeRate(rates, rate[0], RATE + key);
        }
    }

    /** Forgets a key: one of an earlier day if there is one, but not the one that was used now. */
    private void removeRate(TreeSet<String> rates, long today, String used) {
        String removed = null;
        for (String name : rates) {
            boolean earlier = !state.getProperty(name).startsWith(today + ",");
            if (!name.equals(used) && (removed == null || earlier)) {
                removed = name;
                if (earlier) {
                    break;
                }
            }
        }
        if (removed != null) {
            state.remove(removed);
        }
    }
}
