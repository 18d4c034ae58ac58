package dev.tracegen.runtime;

/** The times of one frame. All in nanoseconds of {@link Platform#nanoTime()}. Immutable. */
public final class FrameTiming {
    /** How many durations of {@link #durations} there are: those of Android's {@code FrameMetrics}, in its order. */
    public static final int DURATIONS = 10;

    /** When the display asked for it. */
    public final long vsyncNanos;

    /** When work on it began. */
    public final long startNanos;

    /** When work on it ended. */
    public final long endNanos;

    /** How many frames were missed before it. */
    public final int dropped;

    /** The display's rate, frames a second; 0 if not known. */
    public final float refreshHz;

    private final long[] durations;

    /**
     * A frame.
     *
     * @param vsyncNanos when the display asked for it
     * @param startNanos when work on it began
     * @param endNanos when work on it ended
     * @param dropped how many frames were missed before it
     * @param refreshHz frames a second, 0 if not known
     * @param durations its parts in nanoseconds: unknown, input, animation, layout, draw, sync, command, swap,
     *     total, GPU, -1 for what is not known; null if none is
     */
    public FrameTiming(long vsyncNanos, long startNanos, long endNanos, int dropped, float refreshHz, long[] durations) {
        this.vsyncNanos = vsyncNanos;
        this.startNanos = startNanos;
        this.endNanos = endNanos;
        this.dropped = dropped;
        this.refreshHz = refreshHz;
        this.durations = new long[DURATIONS];
        for (int k = 0; k < DURATIONS; k++) {
            this.durations[k] = durations != null && k < durations.length ? durations[k] : -1;
        }
    }

    /**
     * One of the frame's parts.
     *
     * @param part 0 to 9: unknown, input, animation, layout, draw, sync, command, swap, total, GPU
     * @return nanoseconds, -1 if not known
     */
    public long duration(int part) {
        return durations[part];
    }
}
