package dev.tracegen.runtime;


/** The times of one frame, in nanoseconds of {@link Platform#nanoTime()}. Immutable. */
public final class FrameTiming {
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

    /** Creates the times of a frame. */
    public FrameTiming(long vsyncNanos, long startNanos, long endNanos, int dropped, float refreshHz) {
        this.vsyncNanos = vsyncNanos;
        this.startNanos = startNanos;
        this.endNanos = endNanos;
        this.dropped = dropped;
        this.refreshHz = refreshHz;
    }
}
