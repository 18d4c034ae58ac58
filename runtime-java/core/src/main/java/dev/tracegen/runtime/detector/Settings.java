package dev.tracegen.runtime.detector;

import java.util.Properties;

/** Reads the settings of detectors: {@code NAME.key = value}. */
final class Settings {
    private static final long MAX_MILLIS = 24L * 3600 * 1000;

    private Settings() {
    }

    /**
     * Returns a time.
     *
     * @return nanoseconds
     * @throws IllegalArgumentException if it is no number of milliseconds from 1 to a day
     */
    static long nanos(Properties p, String key, long defaultMillis) {
        return number(p, key, defaultMillis, "a number of milliseconds", MAX_MILLIS) * 1000000L;
    }

    /**
     * Returns a number.
     *
     * @throws IllegalArgumentException if it is no number from 1 to {@code max}
     */
    static long number(Properties p, String key, long otherwise, String what, long max) {
        String value = p.getProperty(key);
        if (value == null) {
            return otherwise;
        }
        long n = -1;
        try {
            n = Long.parseLong(value.trim());
        } catch (NumberFormatException e) {
            // As a number that is out of range.
        }
        if (n < 1 || n > max) {
            throw new IllegalArgumentException(key + " = " + value.trim() + ": must be " + what + " from 1 to " + max);
        }
        return n;
    }

    /**
     * Returns a switch.
     *
     * @throws IllegalArgumentException if it is neither {@code true} nor {@code false}
     */
    static boolean flag(Properties p, String key, boolean otherwise) {
        String value = p.getProperty(key, String.valueOf(otherwise)).trim();
        if (!value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException(key + " = " + value + ": must be true or false");
        }
        return value.equals("true");
    }
}
