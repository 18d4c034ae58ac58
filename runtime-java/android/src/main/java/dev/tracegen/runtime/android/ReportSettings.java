package dev.tracegen.runtime.android;

import dev.tracegen.runtime.RecorderOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/** The keys of {@link RuntimeConfig} about reports. Without {@code upload} and {@code notify}, nothing is reported. */
final class ReportSettings {
    /**
     * Keys that only the app itself may set: what leaves the device, where to, and under which key. What is left of
     * these is about the settings of a collector themselves, or is applied in another way.
     */
    private static final List<String> OF_THE_APP = Arrays.asList("upload", "upload-token", "upload-recordings",
            "upload-network", "upload-user", "config-key", "notify", "build-id", "output", "mapping", "message-text",
            "package", "serial", "expires", "enabled", "methods-off");

    /** The begin of the keys of fractions of one kind. */
    private static final String KIND = "sampling.";

    /** The address of the collector; null to send nothing. */
    String upload;
    String token;
    boolean recordings;
    boolean anyNetwork;
    boolean user = true;
    long waitMinutes = 15;
    int enough = 10;
    int perKeyAndDay = 20;
    int reports = 500;
    int megabytes = 4;
    int days = 7;
    String configKey;
    String buildId;
    boolean notify;
    double fraction = 1;
    final Map<String, Double> kinds = new TreeMap<String, Double>();

    ReportSettings() {
    }

    /** Creates a copy with settings of a collector. Wrong values and keys that it may not set change nothing. */
    ReportSettings(ReportSettings base, Properties remote) {
        upload = base.upload;
        token = base.token;
        recordings = base.recordings;
        anyNetwork = base.anyNetwork;
        user = base.user;
        waitMinutes = base.waitMinutes;
        enough = base.enough;
        perKeyAndDay = base.perKeyAndDay;
        reports = base.reports;
        megabytes = base.megabytes;
        days = base.days;
        configKey = base.configKey;
        buildId = base.buildId;
        notify = base.notify;
        fraction = base.fraction;
        kinds.putAll(base.kinds);
        for (Map.Entry<Object, Object> e : allowed(remote).entrySet()) {
            try {
                set(e.getKey().toString(), e.getValue().toString().trim());
            } catch (IllegalArgumentException wrong) {
                // RuntimeConfig.apply reports it at the next start.
                continue;
            }
        }
    }

    /** Returns those settings of a collector that it may change. */
    static Properties allowed(Properties remote) {
        Properties p = new Properties();
        for (String key : remote.stringPropertyNames()) {
            if (!OF_THE_APP.contains(key)) {
                p.setProperty(key, remote.getProperty(key));
            }
        }
        return p;
    }

    /**
     * Sets a value.
     *
     * @return false if the key is of something else
     * @throws IllegalArgumentException if the value is wrong
     */
    boolean set(String key, String value) {
        if (key.equals("upload")) {
            upload = value.length() == 0 || value.equals("none") ? null : value;
        } else if (key.equals("upload-token")) {
            token = value;
        } else if (key.equals("upload-recordings")) {
            recordings = flag(value);
        } else if (key.equals("upload-network")) {
            anyNetwork = RecorderOptions.choice(value, "unmetered", "any") == 1;
        } else if (key.equals("upload-user")) {
            user = flag(value);
        } else if (key.equals("upload-wait")) {
            waitMinutes = RecorderOptions.number(value, "minutes", 0, 10000);
        } else if (key.equals("upload-enough")) {
            enough = (int) RecorderOptions.number(value, "reports", 1, 100000);
        } else if (key.equals("upload-per-key")) {
            perKeyAndDay = (int) RecorderOptions.number(value, "reports", 0, 100000);
        } else if (key.equals("outbox-reports")) {
            reports = (int) RecorderOptions.number(value, "reports", 1, 100000);
        } else if (key.equals("outbox-megabytes")) {
            megabytes = (int) RecorderOptions.number(value, "megabytes", 1, 1000);
        } else if (key.equals("outbox-days")) {
            days = (int) RecorderOptions.number(value, "days", 1, 365);
        } else if (key.equals("config-key")) {
            configKey = value.length() == 0 ? null : value;
        } else if (key.equals("build-id")) {
            buildId = value;
        } else if (key.equals("notify")) {
            notify = flag(value);
        } else if (key.equals("sampling")) {
            fraction = fraction(value);
        } else if (key.startsWith(KIND) && key.length() > KIND.length()) {
            kinds.put(key.substring(KIND.length()), fraction(value));
        } else {
            return false;
        }
        return true;
    }

    /** Reports whether anything is to be reported. */
    boolean wanted() {
        return upload != null || notify;
    }

    private static double fraction(String text) {
        double f;
        try {
            f = Double.parseDouble(text);
        } catch (NumberFormatException e) {
            f = -1;
        }
        if (!(f >= 0 && f <= 1)) {
            throw new IllegalArgumentException("must be a number from 0 to 1");
        }
        return f;
    }

    private static boolean flag(String value) {
        return RecorderOptions.choice(value, "true", "false") == 0;
    }
}
