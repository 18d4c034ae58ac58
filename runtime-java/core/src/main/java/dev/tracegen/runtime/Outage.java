package dev.tracegen.runtime;

import java.io.IOException;

/**
 * The time from a write or open that failed to the next one that works. Writing is tried again after 1 second, then 2,
 * 4 and so on up to 60. Every attempt may cost the time of a failing disk, and a disk that is full is rarely free again
 * at once. The log has one line about the begin of an outage and one about its end.
 */
final class Outage {
    private static final long FIRST_NANOS = 1000000000L;
    private static final long LONGEST_NANOS = 60000000000L;

    private final Platform platform;
    private boolean active;
    private long wait;
    private long retryNanos;
    private long lost;
    private long lostInOutage;

    Outage(Platform platform) {
        this.platform = platform;
    }

    /** Reports whether a write may be tried now. */
    boolean mayTry() {
        return !active || platform.nanoTime() - retryNanos >= 0;
    }

    /** Makes {@link #mayTry} return true, because there is no later. */
    void tryNow() {
        retryNanos = platform.nanoTime();
    }

    /** Notes that an open or a write has failed. */
    void failed(IOException e) {
        if (!active) {
            platform.log("the recording cannot be written, and the program runs on; it is tried again: "
                    + e.getMessage());
        }
        active = true;
        wait = wait == 0 ? FIRST_NANOS : Math.min(LONGEST_NANOS, 2 * wait);
        retryNanos = platform.nanoTime() + wait;
    }

    /** Counts a chunk that was not written. */
    void lose() {
        lost++;
        lostInOutage++;
    }

    /** Returns how many chunks were not written, as far as the recording does not say it yet. */
    long lost() {
        return lost;
    }

    /**
     * Notes that a write has worked.
     *
     * @param counted how many lost chunks it contains the count of
     */
    void wrote(long counted) {
        lost -= counted;
        if (active) {
            active = false;
            wait = 0;
            platform.log("the recording goes on; chunks that could not be written: " + lostInOutage);
            lostInOutage = 0;
        }
    }
}
