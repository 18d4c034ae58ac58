package dev.tracegen.runtime;

/**
 * How bad it is that frames were dropped in a row. The levels are as in Matrix: 3, 9, 24 and 42 frames at 60 Hz. At
 * another refresh rate the numbers change with it, so that a level stands for the same time: 50, 150, 400 and 700 ms.
 */
public enum DropLevel {
    /** Fewer than 3 frames. */
    BEST(0),

    /** From 3 frames on. */
    NORMAL(3),

    /** From 9 frames on. */
    MIDDLE(9),

    /** From 24 frames on. */
    HIGH(24),

    /** From 42 frames on. */
    FROZEN(42);

    private static final float RATE = 60;

    private final int frames;

    DropLevel(int frames) {
        this.frames = frames;
    }

    /**
     * Returns the least number of dropped frames of this level.
     *
     * @param refreshHz the refresh rate of the display in Hz; 0 if unknown, which counts as 60
     * @return 0 or more
     */
    public int least(float refreshHz) {
        return (int) Math.ceil(frames * (double) (refreshHz > 0 ? refreshHz : RATE) / RATE - 1e-6);
    }

    /** Returns the level of a number of frames that were dropped in a row. */
    public static DropLevel of(int dropped, float refreshHz) {
        DropLevel level = BEST;
        for (DropLevel l : values()) {
            if (dropped >= l.least(refreshHz)) {
                level = l;
            }
        }
        return level;
    }
}
