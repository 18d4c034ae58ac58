package dev.tracegen.runtime.android;

/** Counts the vsyncs since that of the last frame at which the main thread was busy. */
final class BusyVsyncs {
    private long firstNanos;
    private double perNano;
    private int count;
    private long last;

    /**
     * Begins to count.
     *
     * @param vsyncNanos the vsync of the last frame
     * @param hz above 0
     */
    void reset(long vsyncNanos, float hz) {
        firstNanos = vsyncNanos;
        perNano = hz / 1e9;
        count = 0;
        last = 0;
    }

    /** Adds a time in which the main thread was busy, not before those that were added. */
    void add(long beginNanos, long endNanos) {
        long from = Math.max(last, (long) Math.floor((beginNanos - firstNanos) * perNano));
        long to = (long) Math.floor((endNanos - firstNanos) * perNano);
        if (to > from) {
            count += to - from;
            last = to;
        }
    }

    /**
     * Returns how many there were before the vsync of the next frame, which itself is not counted: the message of a
     * frame begins after its vsync, and the main thread may have been busy until then.
     */
    int before(long vsyncNanos) {
        long next = Math.round((vsyncNanos - firstNanos) * perNano);
        // Those at the end of the count are without a gap, because the frame could not begin earlier.
        return (int) Math.max(0, count - Math.max(0, last - next + 1));
    }
}
