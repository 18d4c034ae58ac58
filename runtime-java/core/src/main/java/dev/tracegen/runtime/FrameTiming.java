package dev.tracegen.runtime;

import org.jspecify.annotations.Nullable;

/** The times of one frame, in nanoseconds of {@link Platform#nanoTime()}. Immutable. */
public final class FrameTiming {
    /** How many values {@link #duration} has: the values of Android's {@code FrameMetrics}, in its order. */
    public static final int DURATIONS = 10;

    /** The time of its vsync. */
    public final long vsyncNanos;

    /** When work on it began. */
    public final long startNanos;

    /** When work on it ended. */
    public final long endNanos;

    /** How many frames were dropped before it. */
    public final int dropped;

    /** The refresh rate of the display in Hz; 0 if unknown. */
    public final float refreshHz;

    private final long[] durations;

    /**
     * Creates the times of a frame.
     *
     * @param vsyncNanos the time of its vsync
     * @param startNanos when work on it began
     * @param endNanos when work on it ended
     * @param dropped how many frames were dropped before it
     * @param refreshHz refresh rate of the display in Hz, 0 if unknown
     * @param durations its parts in nanoseconds: unknown, input, animation, layout, draw, sync, command, swap,
     *     total, GPU, -1 for a part that is unknown; null if all are
     */
    public FrameTiming(long vsyncNanos, long startNanos, long endNanos, int dropped, float refreshHz,
            long @Nullable [] durations) {
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
     * Returns the duration of a part of the frame.
     *
     * @param part 0 to 9: unknown, input, animation, layout, draw, sync, command, swap, total, GPU
     * @return nanoseconds, -1 if unknown
     */
    public long duration(int part) {
        return durations[part];
    }
}
