package dev.tracegen.devicecheck;

import android.os.SystemClock;

/** The stall that the analysis of the recording must find. */
final class Planted {
    private Planted() {
    }

    /** Keeps the main thread busy for a time. */
    static int stall(int millis) {
        long end = SystemClock.uptimeMillis() + millis;
        int hash = 1;
        while (SystemClock.uptimeMillis() < end) {
            hash = busy(hash);
        }
        return hash;
    }

    private static int busy(int hash) {
        for (int i = 0; i < 100000; i++) {
            hash = hash * 31 + i;
        }
        return hash;
    }
}
