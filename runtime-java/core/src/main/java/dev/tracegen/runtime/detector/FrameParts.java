package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.FrameTiming;

/** What Android's {@code FrameMetrics} say of one frame of one window. Immutable. */
public final class FrameParts {
    /** The part of {@link FrameTiming#duration} that is the time before work on the frame began. */
    public static final int WAIT = 0;

    /** The part that is the whole frame. */
    public static final int TOTAL = 8;

    /** The part that the GPU needs. */
    public static final int GPU = 9;

    /** From this value on, a value is an error of the device: it subtracted a time from 0. */
    private static final long OUTLIER = 1L << 62;

    /** The vsync for which the frame was requested; 0 if unknown. */
    public final long intendedNanos;

    /** The vsync for which the frame was drawn, as Choreographer has it; 0 if unknown. */
    public final long vsyncNanos;

    /** Whether it was the first frame of its window, which inflates and lays out everything. */
    public final boolean first;

    /** How many frames of this window were not reported before this one, because their listener was busy. */
    public final int lost;

    private final long[] durations;

    /**
     * Creates the parts of a frame. Durations below 0 or of 2^62 and more are unknown.
     *
     * @param intendedNanos the vsync for which the frame was requested, 0 if unknown
     * @param vsyncNanos the vsync for which it was drawn, 0 if unknown
     * @param first whether it was the first frame of its window
     * @param lost how many frames were not reported before it
     * @param durations as those of {@link FrameTiming}; they are copied
     */
    public FrameParts(long intendedNanos, long vsyncNanos, boolean first, int lost, long[] durations) {
        boolean sane = intendedNanos > 0 && vsyncNanos > 0 && intendedNanos < OUTLIER && vsyncNanos < OUTLIER;
        this.intendedNanos = sane ? intendedNanos : 0;
        this.vsyncNanos = sane ? vsyncNanos : 0;
        this.first = first;
        this.lost = Math.max(0, lost);
        this.durations = new long[FrameTiming.DURATIONS];
        for (int k = 0; k < this.durations.length; k++) {
            long d = k < durations.length ? durations[k] : -1;
            this.durations[k] = d >= 0 && d < OUTLIER ? d : -1;
        }
    }

    /**
     * Returns the duration of a part of the frame.
     *
     * @param part as of {@link FrameTiming#duration}
     * @return nanoseconds, -1 if unknown
     */
    public long duration(int part) {
        return durations[part];
    }

    /** Returns all durations. */
    long[] durations() {
        return durations.clone();
    }

    /** Returns when the frame was complete; 0 if unknown. */
    long endNanos() {
        return intendedNanos == 0 || durations[TOTAL] < 0 ? 0 : intendedNanos + durations[TOTAL];
    }
}
