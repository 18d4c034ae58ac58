package dev.tracegen.runtime.android;

import dev.tracegen.runtime.RecorderOptions;
import java.util.Properties;

/** Reads the settings of detectors, which have keys as {@code NAME.key}. */
final class Settings {
    private Settings() {
    }

    /** Returns a number, or its default if it is not set. Throws IllegalArgumentException if it is none. */
    static long number(Properties settings, String key, long otherwise, int least, int most) {
        String value = settings.getProperty(key);
        if (value == null) {
            return otherwise;
        }
        return RecorderOptions.number(value.trim(), key, least, most);
    }
}
