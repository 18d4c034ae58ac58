package dev.tracegen.runtime.detector;

/**
 * Counts the vsyncs since that of the last frame at which the main thread was busy. The caller adds the message of the
 * frame itself first and the other messages after it. Used by one thread.
 */
public final class BusyVsyncs {
    private long firstNanos;
    private double perNano;
    private int count;
    private long last;

    /** How many of them are in a row up to the last one, and behind the frame itself. */
    private long row;

    /** Creates a counter, which counts from {@link #reset} on. */
    public BusyVsyncs() {
    }

    /**
     * Begins to count.
     *
     * @param vsyncNanos the vsync of the last frame
     * @param hz above 0
     */
    public void reset(long vsyncNanos, float hz) {
        firstNanos = vsyncNanos;
        perNano = hz / 1e9;
        count = 0;
        row = 0;
        last = 0;
    }

    /** Adds a time in which the main thread was busy, not before those that were added. */
    public void add(long beginNanos, long endNanos) {
        long from = Math.max(last, (long) Math.floor((beginNanos - firstNanos) * perNano));
        long to = (long) Math.floor((endNanos - firstNanos) * perNano);
        if (to > from) {
            count += to - from;
            row = to - from + (from == last ? row : 0);
            last = to;
        }
    }

    /** Says that what was added so far was the frame itself. */
    public void ownEnded() {
        row = 0;
    }

    /**
     * Returns how many there were before the vsync of the next frame, which itself is not counted: the message of a
     * frame begins after its vsync, and the main thread may have been busy until then.
     *
     * @param vsyncNanos the vsync of the next frame
     * @return at most the vsyncs between the two frames
     */
    public int before(long vsyncNanos) {
        // Those at the end of the count are without a gap, because the frame could not begin earlier.
        return (int) Math.max(0, count - Math.max(0, last - next(vsyncNanos) + 1));
    }

    /**
     * Returns how many of {@link #before} delayed the next frame: those after the end of the last frame itself at which
     * the main thread did something else, in a row up to the next frame. If the main thread waited at a vsync between,
     * no frame was due then, and what it did before that has delayed none.
     *
     * @param vsyncNanos the vsync of the next frame
     * @return at most {@link #before}
     */
    public int others(long vsyncNanos) {
        long next = next(vsyncNanos);
        return last < next - 1 ? 0 : (int) Math.max(0, row - (last - next + 1));
    }

    private long next(long vsyncNanos) {
        return Math.round((vsyncNanos - firstNanos) * perNano);
    }
}
