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
 * between them; the time from vsync to vsync of such frames is an interval, and all intervals together are the time in
 * which the app drew. Jitter is the mean difference of an interval from the one before it, so it is 0 at any steady
 * rate.
 */
public final class FrameStatistics {
    /** From here on a frame has a name of its own. */
    static final long FROZEN_NANOS = 300000000L;

    /** Frames that are further apart do not follow each other. */
    private static final long IDLE_NANOS = 100000000L;

    private static final float UNKNOWN_RATE = 60;

    /** Facts of the parts of frames, in the order of {@link FrameTiming#duration}. */
    private static final String[] PARTS = {"wait", "input", "animation", "layout", "draw", "sync", "command", "swap",
        "total", "gpu"};

    private final long[] partNanos = new long[PARTS.length];
    private final int[] partFrames = new int[PARTS.length];
    private final int[] levels = new int[DropLevel.values().length];
    private int frames;
    private int firsts;
    private int measured;
    private int frozen;
    private int lost;
    private int unreported;
    private long dropped;
    private long sumNanos;
    private long bestNanos = Long.MAX_VALUE;
    private long worstNanos;
    private long drawingNanos;
    private long intervalNanos;
    private long jitterNanos;
    private int jitterCount;
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
     * @param first whether it is the first frame of its window, which counts apart
     */
    public void add(FrameTiming frame, int late, boolean first) {
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
        if (first) {
            firsts++;
        } else {
            measured++;
            sumNanos += nanos;
            bestNanos = Math.min(bestNanos, nanos);
            worstNanos = Math.max(worstNanos, nanos);
        }
        for (int k = 0; k < PARTS.length; k++) {
            addPart(k, frame.duration(k));
        }
        addInterval(frame, interval);
        before = frame;
    }

    /**
     * Adds parts that belong to no frame of {@link #add}, because their vsync is unknown or that of another window's.
     *
     * @param p the parts
     */
    public void addParts(FrameParts p) {
        for (int k = 0; k < PARTS.length; k++) {
            addPart(k, p.duration(k));
        }
    }

    private void addPart(int part, long nanos) {
        if (nanos >= 0) {
            partNanos[part] += nanos;
            partFrames[part]++;
        }
    }

    private void addInterval(FrameTiming frame, long interval) {
        long gap = before == null ? Long.MAX_VALUE : frame.vsyncNanos - before.vsyncNanos;
        if (gap <= 0 || gap == Long.MAX_VALUE || gap - (frame.dropped + 1L) * interval >= IDLE_NANOS) {
            drawingNanos += interval;
            intervalNanos = 0;
            return;
        }
        drawingNanos += gap;
        if (intervalNanos > 0) {
            jitterNanos += Math.abs(gap - intervalNanos);
            jitterCount++;
        }
        intervalNanos = gap;
    }

    /**
     * Adds frames of which nothing is known but their number.
     *
     * @param frames how many reports were lost
     */
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

    /**
     * Returns the number of dropped frames.
     *
     * @return the sum
     */
    public long dropped() {
        return dropped;
    }

    /**
     * Returns the time in which the app drew.
     *
     * @return nanoseconds
     */
    public long drawingNanos() {
        return drawingNanos;
    }

    /**
     * Returns the jitter.
     *
     * @return nanoseconds, -1 if there are no three frames that follow each other
     */
    public long jitterNanos() {
        return jitterCount == 0 ? -1 : jitterNanos / jitterCount;
    }

    /**
     * Returns the mean time of a frame, without first ones.
     *
     * @return nanoseconds, -1 if there is none
     */
    public long meanNanos() {
        return measured == 0 ? -1 : sumNanos / measured;
    }

    /**
     * Returns the longest time of a frame, without first ones.
     *
     * @return nanoseconds, -1 if there is none
     */
    public long worstNanos() {
        return measured == 0 ? -1 : worstNanos;
    }

    /**
     * Returns the shortest time of a frame, without first ones.
     *
     * @return nanoseconds, -1 if there is none
     */
    public long bestNanos() {
        return measured == 0 ? -1 : bestNanos;
    }

    /**
     * Returns how many frames had a level.
     *
     * @param level the level
     * @return the number
     */
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
        b.fact("frozen-frames", frozen).fact("mean-millis", millis(meanNanos()));
        b.fact("worst-millis", millis(worstNanos())).fact("best-millis", millis(bestNanos()));
        b.fact("jitter-millis", millis(jitterNanos())).fact("drawing-millis", millis(drawingNanos));
        if (drawingNanos > 0) {
            b.fact("fps", number(frames * 1e9 / drawingNanos));
        }
        b.fact("refresh-hz", mostHz == 0 ? null : leastHz == mostHz ? number(mostHz)
                : number(leastHz) + "-" + number(mostHz));
        b.fact("first-frames", firsts == 0 ? null : firsts).fact("lost-reports", lost == 0 ? null : lost);
        b.fact("unreported", unreported == 0 ? null : unreported);
        for (int k = 0; k < PARTS.length; k++) {
            if (partFrames[k] > 0) {
                b.fact("mean-" + PARTS[k] + "-millis", millis(partNanos[k] / partFrames[k]));
            }
        }
    }

    /** Writes the parts of one frame, as far as they are known. */
    static void describeParts(Incident.Builder b, FrameTiming frame) {
        for (int k = 0; k < PARTS.length; k++) {
            b.fact(PARTS[k] + "-millis", millis(frame.duration(k)));
        }
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
