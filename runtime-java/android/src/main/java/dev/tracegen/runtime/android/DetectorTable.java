package dev.tracegen.runtime.android;

import android.content.Context;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.detector.Anr;
import dev.tracegen.runtime.detector.Detector;
import dev.tracegen.runtime.detector.Detectors;
import dev.tracegen.runtime.detector.Hold;
import dev.tracegen.runtime.detector.NativeQuit;
import dev.tracegen.runtime.detector.NativeTouch;
import dev.tracegen.runtime.detector.SteadySamples;
import dev.tracegen.runtime.detector.SyncBarrier;
import dev.tracegen.runtime.detector.Watchdog;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * All detectors by name, with their settings. A setting has the key {@code NAME.key} in the configuration and here. To
 * add a detector, add an entry below.
 */
final class DetectorTable {
    private static final String FLAG = "true|false";
    private static final String MILLIS = "1..86400000";

    /** Names with commas between them. */
    private static final String NAMES = "names";

    private static final Map<String, Entry> ENTRIES = new LinkedHashMap<String, Entry>();

    private DetectorTable() {
    }

    /** A detector that can be created. */
    private abstract static class Entry {
        final String name;

        /**
         * The valid values by key: {@code true|false}, the least and the greatest number as {@code 1..60000}, or
         * {@code names} for any names with commas between them.
         */
        final Map<String, String> keys = new LinkedHashMap<String, String>();

        /**
         * Creates an entry and adds it to the table.
         *
         * @param settings pairs of a key without the name, and its valid values
         */
        Entry(String name, String... settings) {
            this.name = name;
            for (int k = 0; k < settings.length; k += 2) {
                keys.put(settings[k], settings[k + 1]);
            }
            ENTRIES.put(name, this);
        }

        /**
         * Creates the detector. It may throw IllegalArgumentException; then the detector does not exist.
         *
         * @param session the session that it runs in
         * @param context the app
         * @param settings all settings of all detectors; the keys are {@code NAME.key}
         */
        abstract Detector create(Session session, Context context, Properties settings);
    }

    static {
        new Entry("sync-barrier", "remove", FLAG, "poll-millis", MILLIS, "age-millis", MILLIS) {
            @Override
            Detector create(Session session, Context context, Properties settings) {
                return new SyncBarrier(settings);
            }
        };
        new Entry("watchdog", "poll-millis", MILLIS, "foreground-only", FLAG) {
            @Override
            Detector create(Session session, Context context, Properties settings) {
                return Watchdog.classic(settings);
            }
        };
        new Entry("short-polls", "poll-millis", MILLIS, "polls", "1..1000", "foreground-only", FLAG) {
            @Override
            Detector create(Session session, Context context, Properties settings) {
                return Watchdog.shortPolls(settings);
            }
        };
        new Entry("hold", "millis", MILLIS) {
            @Override
            Detector create(Session session, Context context, Properties settings) {
                return Hold.create(settings);
            }
        };
        new Entry("steady-samples", "interval-millis", MILLIS, "threshold-millis", MILLIS) {
            @Override
            Detector create(Session session, Context context, Properties settings) {
                return SteadySamples.create(settings);
            }
        };
        new Entry("anr", "lag-millis", MILLIS) {
            @Override
            Detector create(Session session, Context context, Properties settings) {
                Anr anr = Anr.create(settings, new ErrorState(context));
                session.anr(anr);
                return anr;
            }
        };
        // Behind anr, which confirms what a signal means while it is on.
        new Entry("sigquit") {
            @Override
            Detector create(Session session, Context context, Properties settings) {
                return new NativeQuit(session.anr());
            }
        };
        new Entry("native-touch", "slow-millis", MILLIS) {
            @Override
            Detector create(Session session, Context context, Properties settings) {
                return new NativeTouch(settings);
            }
        };
        new Entry("frames", "dropped", "1..100000") {
            @Override
            Detector create(Session session, Context context, Properties settings) {
                return FrameSources.create(settings, context, session.frameTimes(), session.activities());
            }
        };
        new Entry("startup", "splash", NAMES, "slow-cold", MILLIS, "slow-warm", MILLIS, "slow-hot", MILLIS) {
            @Override
            Detector create(Session session, Context context, Properties settings) {
                return StartupSource.create(settings, context, session.activities());
            }
        };
        new Entry("profiling", "triggers", NAMES) {
            @Override
            Detector create(Session session, Context context, Properties settings) {
                return ProfilingResults.create(settings, context);
            }
        };
    }

    /** Returns the names of all detectors, in the order of the table. */
    static List<String> names() {
        return Collections.unmodifiableList(new ArrayList<String>(ENTRIES.keySet()));
    }

    /** Throws IllegalArgumentException if there is no detector of that name. */
    static void checkName(String name) {
        if (!ENTRIES.containsKey(name)) {
            throw new IllegalArgumentException("there is no detector " + name + "; there are " + names());
        }
    }

    /**
     * Checks a setting.
     *
     * @param key {@code NAME.key}
     * @throws IllegalArgumentException if there is no such detector or setting, or if the value is wrong
     */
    static void checkSetting(String key, String value) {
        int dot = key.indexOf('.');
        checkName(key.substring(0, dot));
        Entry e = ENTRIES.get(key.substring(0, dot));
        String valid = e.keys.get(key.substring(dot + 1));
        if (valid == null) {
            throw new IllegalArgumentException("the detector " + e.name + " has no such setting; it has "
                    + e.keys.keySet());
        }
        if (valid.equals(FLAG)) {
            RecorderOptions.choice(value, "true", "false");
        } else if (!valid.equals(NAMES)) {
            int range = valid.indexOf("..");
            String unit = key.endsWith("-millis") ? "milliseconds" : key.substring(dot + 1);
            RecorderOptions.number(value, unit, Integer.parseInt(valid.substring(0, range)),
                    Integer.parseInt(valid.substring(range + 2)));
        }
    }

    /**
     * Adds all detectors of the table. One that cannot be created is not added.
     *
     * @return one line for each that cannot be created
     */
    static List<String> addTo(Detectors detectors, Session session, Context context, Properties settings) {
        List<String> problems = new ArrayList<String>();
        for (Entry e : ENTRIES.values()) {
            try {
                detectors.add(e.create(session, context, settings));
            } catch (Throwable failure) {
                problems.add("there is no detector " + e.name + ", because it cannot be created: " + failure);
            }
        }
        return problems;
    }
}
