package dev.tracegen.runtime.android;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** Settings with a name: the values that other tools and the articles about them use. */
final class Presets {
    // Pairs of a key and its value. Keys that the file has too are those of the file.
    private static final String[][] PRESETS = {
        // Matrix: messages from 700 ms on, the timer of the Looper.
        {"matrix", "slow", "700", "detectors", "anr", "anr.lag-millis", "2000"},
        // BlockCanary: it reports after 3 s and samples from 0.8 times that on.
        {"blockcanary", "slow", "3000", "detectors", "steady-samples", "steady-samples.interval-millis", "300"},
        // BlockCanary with the threshold of its sample app.
        {"blockcanary-context", "slow", "1000", "detectors", "steady-samples", "steady-samples.interval-millis", "300"},
        // BlockCanaryX: 15 frames of 16 ms.
        {"blockcanaryx", "slow", "240", "detectors", "steady-samples", "steady-samples.interval-millis", "50"},
        // The articles: the printer with 2 s, the dump after 1 s, the watchdogs, and the barrier's probes.
        {"articles", "slow", "2000", "detectors", "sync-barrier,watchdog,short-polls,hold", "watchdog.poll-millis",
            "5000", "short-polls.poll-millis", "2000", "short-polls.polls", "3", "hold.millis", "1000"},
    };

    private Presets() {
    }

    /**
     * Adds the settings of a preset to those of an app, which win.
     *
     * @param settings has the name of the preset under {@code preset}, or no such key
     * @return all settings, without {@code preset} if there is such a preset
     */
    static Properties apply(Properties settings) {
        String name = settings.getProperty("preset");
        Properties all = new Properties();
        for (String[] p : PRESETS) {
            for (int k = 1; name != null && p[0].equals(name.trim()) && k < p.length; k += 2) {
                all.setProperty(p[k], p[k + 1]);
            }
        }
        boolean found = !all.isEmpty();
        for (String key : settings.stringPropertyNames()) {
            if (!found || !key.equals("preset")) {
                all.setProperty(key, settings.getProperty(key));
            }
        }
        return all;
    }

    /** Throws IllegalArgumentException: there is no such preset. */
    static void refuse() {
        List<String> names = new ArrayList<String>();
        for (String[] p : PRESETS) {
            names.add(p[0]);
        }
        throw new IllegalArgumentException("there is no such preset; there are " + names);
    }
}
