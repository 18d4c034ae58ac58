package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.DropLevel;
import dev.tracegen.runtime.FrameTiming;
import dev.tracegen.runtime.Incident;
import java.util.Locale;

/**
 * Figures about the frames of one scene. Used by one thread.
 *
 * <p>The time of a frame is that from its vsync to the end of its work. A frame is dropped at each vsync at which the
 * main thread was busy and could not begin it. Frames follow each other if the app was idle for less than 100 ms
 * between them; the times from vsync to vsync of such frames together are the time in which the app drew.
 */
public final class FrameStatistics {
    /** From here on a frame has a name of its own. */
    static final long FROZEN_NANOS = 300000000L;

    /** Google Play calls a frame slow if it took more than 16 ms, and frozen if it took more than 700 ms. */
    static final long PLAY_SLOW_NANOS = 16000000L;
    static final long PLAY_FROZEN_NANOS = 700000000L;

    /** Frames that are further apart do not follow each other. */
    private static final long IDLE_NANOS = 100000000L;

    private static final float UNKNOWN_RATE = 60;

    private final int[] levels = new int[DropLevel.values().length];
    private int frames;
    private int frozen;
    private int playSlow;
    private int playFrozen;
    private int lost;
    private int unreported;
    private long dropped;
    private long sumNanos;
    private long worstNanos;
    private long drawingNanos;
    private float leastHz;
    private float mostHz;
    private long beginNanos;
    private long endNanos;
    private FrameTiming before;

    /** Creates empty figures. */
    public FrameStatistics() {
    }

    /**
     * Adds a frame. Frames come in the order of their vsyncs.
     *
     * @param frame its times; {@link FrameTiming#dropped} are the frames that were dropped before it
     * @param late how many frames were dropped by this frame itself and by what the main thread did since the one
     *     before it had ended
     */
    public void add(FrameTiming frame, int late) {
        long interval = (long) (1e9 / (frame.refreshHz > 0 ? frame.refreshHz : UNKNOWN_RATE));
        long nanos = Math.max(0, frame.endNanos - frame.vsyncNanos);
        if (frames++ == 0) {
            beginNanos = frame.vsyncNanos;
        }
        endNanos = Math.max(endNanos, frame.endNanos);
        if (frame.refreshHz > 0) {
            leastHz = leastHz == 0 ? frame.refreshHz : Math.min(leastHz, frame.refreshHz);
            mostHz = Math.max(mostHz, frame.refreshHz);
        }
        dropped += late;
        levels[DropLevel.of(late, frame.refreshHz).ordinal()]++;
        if (nanos >= FROZEN_NANOS) {
            frozen++;
        }
        if (nanos > PLAY_SLOW_NANOS) {
            playSlow++;
        }
        if (nanos > PLAY_FROZEN_NANOS) {
            playFrozen++;
        }
        sumNanos += nanos;
        worstNanos = Math.max(worstNanos, nanos);
        long gap = before == null ? 0 : frame.vsyncNanos - before.vsyncNanos;
        boolean follows = gap > 0 && gap - (frame.dropped + 1L) * interval < IDLE_NANOS;
        drawingNanos += follows ? gap : interval;
        before = frame;
    }

    /** Adds frames of which nothing is known but their number. */
    public void addLost(int frames) {
        lost += frames;
    }

    /** Counts dropped frames that are not reported as an incident of their own. */
    void addUnreported() {
        unreported++;
    }

    /**
     * Returns the number of frames.
     *
     * @return without those of {@link #addLost}
     */
    public int frames() {
        return frames;
    }

    /** Returns the number of dropped frames. */
    public long dropped() {
        return dropped;
    }

    /** Returns the time in which the app drew. */
    public long drawingNanos() {
        return drawingNanos;
    }

    /**
     * Returns the mean time of a frame.
     *
     * @return nanoseconds, -1 if there is none
     */
    public long meanNanos() {
        return frames == 0 ? -1 : sumNanos / frames;
    }

    /**
     * Returns the longest time of a frame.
     *
     * @return nanoseconds, -1 if there is none
     */
    public long worstNanos() {
        return frames == 0 ? -1 : worstNanos;
    }

    /** Returns how many frames had a level. */
    public int frames(DropLevel level) {
        return levels[level.ordinal()];
    }

    /** Writes the facts. There is at least one frame. */
    void describe(Incident.Builder b) {
        b.begin(beginNanos).end(Math.max(beginNanos, endNanos));
        b.fact("frames", frames).fact("dropped", dropped);
        for (DropLevel l : DropLevel.values()) {
            b.fact("level-" + l.name().toLowerCase(Locale.ROOT), frames(l));
        }
        b.fact("frozen-frames", frozen).fact("play-slow-frames", playSlow).fact("play-frozen-frames", playFrozen);
        b.fact("mean-millis", millis(meanNanos()));
        b.fact("worst-millis", millis(worstNanos())).fact("drawing-millis", millis(drawingNanos));
        if (drawingNanos > 0) {
            b.fact("fps", number(frames * 1e9 / drawingNanos));
        }
        b.fact("refresh-hz", mostHz == 0 ? null : leastHz == mostHz ? number(mostHz)
                : number(leastHz) + "-" + number(mostHz));
        b.fact("lost-reports", lost == 0 ? null : lost).fact("unreported", unreported == 0 ? null : unreported);
    }

    /** Returns milliseconds as a fact; null for -1. */
    static String millis(long nanos) {
        return nanos < 0 ? null : number(nanos / 1e6);
    }

    /** Returns a number with at most two digits behind the point. */
    static String number(double value) {
        String s = String.format(Locale.ROOT, "%.2f", value);
        return s.endsWith(".00") ? s.substring(0, s.length() - 3) : s;
    }
}
