package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Frames that were dropped in a row, because the main thread was busy. Immutable. */
public final class DroppedFrames {
    /** The time of the vsync of the frame before, in {@link Platform#nanoTime()}. */
    public final long beginNanos;

    /** When the main thread had drawn the late frame, in {@link Platform#nanoTime()}. */
    public final long endNanos;

    /** How many frames were dropped, at {@link #refreshHz}. */
    public final int dropped;

    /** The level of that number. */
    public final DropLevel level;

    /** The refresh rate of the display in Hz; 0 if unknown. */
    public final float refreshHz;

    /** The scene in which the late frame was drawn, see {@link Recorder#scene}; may be null. */
    public final @Nullable String scene;

    /**
     * The stacks of the main thread that were taken while the frames were dropped, the first one first. Empty if the
     * main thread was busy with many short messages and not with a long one.
     */
    public final List<ThreadStack> stacks;

    /**
     * Creates the description.
     *
     * @param beginNanos the time of the vsync of the frame before
     * @param endNanos when the late frame was drawn
     * @param dropped how many frames were dropped
     * @param refreshHz the refresh rate of the display in Hz, 0 if unknown
     * @param scene the scene of the late frame; null if there is none
     * @param stacks the stacks that were taken meanwhile; they are copied
     */
    public DroppedFrames(long beginNanos, long endNanos, int dropped, float refreshHz, @Nullable String scene,
            List<ThreadStack> stacks) {
        this.beginNanos = beginNanos;
        this.endNanos = endNanos;
        this.dropped = dropped;
        this.level = DropLevel.of(dropped, refreshHz);
        this.refreshHz = refreshHz;
        this.scene = scene;
        this.stacks = Collections.unmodifiableList(new ArrayList<ThreadStack>(stacks));
    }

    /** Returns about how many bytes of memory it needs while it waits. */
    long bytes() {
        long n = 256;
        for (ThreadStack s : stacks) {
            n += 64L * s.frames.size();
        }
        return n;
    }
}
