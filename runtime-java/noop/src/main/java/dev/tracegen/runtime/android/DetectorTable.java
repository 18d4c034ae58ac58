package dev.tracegen.runtime.android;

/** There are no detectors in the no-op. Their settings are not checked. */
final class DetectorTable {
    private DetectorTable() {
    }

    static void checkName(String name) {
    }

    static void checkSetting(String key, String value) {
    }
}
