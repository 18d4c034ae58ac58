package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.FrameTiming;

/**
 * A display on the clock of a {@link VirtualSchedule}, and what reports its frames to a detector, as FrameTimes does on
 * Android: the rate is read at most once a second, and vsyncs before a change of the rate are not counted.
 */
final class VirtualDisplay implements Frames.Source {
    private static final long SECOND = 1000000000L;

    private final VirtualSchedule schedule;
    private final VirtualLoop loop;
    private final BusyVsyncs busy = new BusyVsyncs();

    /** The rate of the display. */
    float hz = 60;

    /** Null while the detector is off. */
    Frames frames;

    private float seenHz;
    private long seenNanos;
    private long vsync;
    private long counted;

    VirtualDisplay(VirtualSchedule schedule, VirtualLoop loop) {
        this.schedule = schedule;
        this.loop = loop;
    }

    @Override
    public void report(Frames to) {
        frames = to;
        counted = 0;
    }

    /** Lets the main thread work, as one message. */
    void work(long nanos) {
        long begin = schedule.nanoTime();
        run(nanos, 0);
        if (counted != 0) {
            busy.add(begin, schedule.nanoTime());
        }
    }

    /** Draws a frame at the next vsync. It takes so long, and the process is frozen for some time while it is drawn. */
    void draw(long nanos, long frozen) {
        double interval = 1e9 / hz;
        long now = schedule.nanoTime();
        // Behind a busy time the frame is that of the last vsync.
        vsync = vsync == 0 ? now : vsync + (long) (Math.max(1, Math.floor((now - vsync) / interval)) * interval);
        schedule.advance(Math.max(0, vsync - now));
        long begin = schedule.nanoTime();
        run(nanos, frozen);
        long end = schedule.nanoTime();
        if (seenHz == 0 || end - seenNanos >= SECOND) {
            seenNanos = end;
            counted = seenHz == hz ? counted : 0;
            seenHz = hz;
        }
        int dropped = counted == 0 ? 0 : busy.before(vsync);
        if (frames != null) {
            frames.frame(new FrameTiming(vsync, begin, end, dropped, seenHz),
                    counted == 0 ? 0 : busy.others(vsync));
        }
        counted = vsync;
        busy.reset(vsync, seenHz);
        busy.add(begin, end);
        busy.ownEnded();
    }

    private void run(long nanos, long frozen) {
        loop.busy(nanos);
        if (frames != null) {
            frames.busy();
        }
        if (frozen != 0) {
            schedule.advance(nanos / 2);
            schedule.freeze(frozen);
        }
        // Until the Looper is idle.
        schedule.advance(frozen == 0 ? nanos : nanos - nanos / 2);
    }
}
