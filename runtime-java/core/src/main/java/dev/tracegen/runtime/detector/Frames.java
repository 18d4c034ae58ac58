package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.DropLevel;
import dev.tracegen.runtime.FrameTiming;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.ThreadStack;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The detector {@code frames}: frames that were dropped, frames that took 300 ms and more, and figures about the frames
 * of each scene.
 *
 * <p>A {@link Source} reports each frame when the main thread has drawn it, and only puts it into a queue. The
 * detectors' thread looks into it every 50 ms while the app draws or the main thread runs something, and then also
 * takes the stack of the main thread if that has run one message for so long. If it finds nothing it does not look
 * again before the next message.
 */
public final class Frames extends Detector {
    /** What reports frames. */
    public interface Source {
        /** Calls {@link Frames#frame} of a detector for each frame from now on; of none if it is null. */
        void report(@Nullable Frames frames);
    }

    /** The main thread is late from here on: three frames at 60 Hz, as many more at other rates. */
    private static final long LATE_NANOS = 50000000L;

    /** After so much drawing the figures of a scene are reported. */
    private static final long SLICE_NANOS = 10000000000L;

    /** If this thread comes later than that and the process has used no CPU time, the process did not run. */
    private static final long STOPPED_NANOS = 300000000L;
    private static final int STOPPED_CPU_SHARE = 10;

    private static final int MAX_QUEUE = 1024;
    private static final int MAX_STACKS = 8;

    /** How many incidents are reported of one scene, at most 10 s of drawing. The others are counted. */
    private static final int MAX_INCIDENTS = 10;

    private static final float UNKNOWN_RATE = 60;

    private final Source source;
    private final int least;

    // From the main thread to this one.
    private final ConcurrentLinkedQueue<Drawn> drawn = new ConcurrentLinkedQueue<Drawn>();
    private final AtomicInteger queued = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private final AtomicBoolean armed = new AtomicBoolean();
    private volatile Environment environment;

    // Used by the detectors' thread only.
    private final List<ThreadStack> stacks = new ArrayList<ThreadStack>();
    private String scene;
    private FrameStatistics statistics = new FrameStatistics();
    private int incidents;
    private long lastVsyncNanos;
    private long lastRecord;
    private long sampledSince;
    private long nextSample;
    private int samples;
    private long stoppedBegin;
    private long stoppedEnd;
    private long dueNanos;
    private long dueCpu;

    /** A frame that the main thread has drawn, and what became known of it. */
    private static final class Drawn {
        final FrameTiming timing;
        final int others;
        final String scene;
        final long endRecord;
        long firstRecord;
        int late;
        long beginNanos;
        List<ThreadStack> stacks;

        Drawn(FrameTiming timing, int others, String scene, long endRecord) {
            this.timing = timing;
            this.others = others;
            this.scene = scene;
            this.endRecord = endRecord;
        }
    }

    /**
     * Creates a detector that is off.
     *
     * @param dropped from how many frames at 60 Hz on dropped frames are an incident
     */
    public Frames(Source source, int dropped) {
        super("frames");
        this.source = source;
        this.least = Math.max(1, dropped);
    }

    /** Says that the main thread begins to run something. On the main thread. */
    public void busy() {
        if (!armed.get()) {
            arm();
        }
    }

    private void arm() {
        Environment e = environment;
        if (e != null && e.recorder.foreground() && armed.compareAndSet(false, true)) {
            schedule(e, e.nanoTime() + LATE_NANOS);
        }
    }

    /**
     * Reports a frame. On the main thread, which has drawn it.
     *
     * @param timing its times and the number of frames that were dropped before it
     * @param others how many of these were dropped after the frame before it had ended
     */
    public void frame(FrameTiming timing, int others) {
        Environment e = environment;
        if (e == null || !e.recorder.foreground()) {
            return;
        }
        if (queued.get() >= MAX_QUEUE) {
            lost.incrementAndGet();
            return;
        }
        queued.incrementAndGet();
        drawn.add(new Drawn(timing, others, e.recorder.scene(), e.loop.trace().nextRecord()));
        busy();
    }

    /** Reports that the app went to the background, so that the figures are reported now. On any thread. */
    public void background() {
        Environment e = environment;
        if (e != null) {
            e.at(e.nanoTime(), new Runnable() {
                @Override
                public void run() {
                    flush();
                }
            });
        }
    }

    @Override
    protected void start(Environment e) {
        scene = null;
        statistics = new FrameStatistics();
        incidents = 0;
        lastVsyncNanos = 0;
        lastRecord = e.loop.trace().nextRecord();
        sampledSince = 0;
        armed.set(false);
        stoppedEnd = 0;
        environment = e;
        source.report(this);
    }

    @Override
    protected void stop() {
        try {
            source.report(null);
        } finally {
            flush();
            environment = null;
            stacks.clear();
        }
    }

    private void schedule(Environment e, long nanos) {
        dueNanos = nanos;
        dueCpu = e.recorder.platform().processCpuNanos();
        e.at(nanos, new Runnable() {
            @Override
            public void run() {
                boolean done = false;
                try {
                    check();
                    done = true;
                } finally {
                    if (!done) {
                        // The next message begins anew.
                        armed.set(false);
                    }
                }
            }
        });
    }

    private void check() {
        Environment e = environment;
        long now = e.nanoTime();
        noteStopped(e, now);
        boolean found = take();
        long since = e.loop.runningSince();
        long next = now + LATE_NANOS;
        if (since != 0) {
            sample(e, since, now);
            next = Math.min(next, samples < MAX_STACKS ? Math.max(nextSample, now + 1000000L) : next);
        }
        if (found || since != 0) {
            schedule(e, next);
            return;
        }
        armed.set(false);
        if (!drawn.isEmpty() || e.loop.runningSince() != 0) {
            // They came before the line above, so no one has seen that this thread is about to sleep.
            arm();
        }
    }

    /** Finds out whether the process was stopped or frozen before this check, or whether a debugger is attached. */
    private void noteStopped(Environment e, long now) {
        long late = now - dueNanos;
        long cpu = e.recorder.platform().processCpuNanos();
        boolean unused = cpu < 0 || dueCpu < 0 || cpu - dueCpu < late / STOPPED_CPU_SHARE;
        boolean debugger = e.recorder.platform().debuggerAttached();
        if (debugger || late >= STOPPED_NANOS && unused) {
            // With a debugger, the times between many checks are one.
            stoppedBegin = debugger && dueNanos - stoppedEnd <= LATE_NANOS ? stoppedBegin : dueNanos;
            stoppedEnd = now;
        }
    }

    /** Takes the stack of the main thread if it has run one message for long, ever less often. */
    private void sample(Environment e, long since, long now) {
        if (since != sampledSince) {
            sampledSince = since;
            samples = 0;
            nextSample = since + LATE_NANOS;
        }
        if (now >= nextSample && samples < MAX_STACKS) {
            ThreadStack s = ThreadStack.of(e.loop.thread(), e.recorder.platform());
            // If another message runs by now, the stack may be of that one.
            if (e.loop.runningSince() == since) {
                stacks.add(s);
            }
            samples++;
            nextSample = now + (LATE_NANOS << Math.min(samples, 5));
        }
        while (stacks.size() > 2 * MAX_STACKS) {
            stacks.remove(0);
        }
    }

    /** Takes everything from the queue. Returns whether there was anything. */
    private boolean take() {
        boolean found = false;
        for (Drawn d = drawn.poll(); d != null; d = drawn.poll()) {
            queued.decrementAndGet();
            found = true;
            late(d);
            count(d);
        }
        statistics.addLost(lost.getAndSet(0));
        return found;
    }

    /** Decides how late a frame is. */
    private void late(Drawn d) {
        FrameTiming t = d.timing;
        double perNano = (t.refreshHz > 0 ? t.refreshHz : UNKNOWN_RATE) / 1e9;
        int own = Math.max(0, (int) Math.floor((t.endNanos - t.vsyncNanos) * perNano) - 1);
        d.late = d.others + own;
        d.beginNanos = d.others == 0 ? t.vsyncNanos
                : Math.max(lastVsyncNanos, t.vsyncNanos - (long) ((d.others + 1) / perNano));
        d.firstRecord = lastRecord;
        d.stacks = stacksSince(d.beginNanos, t.endNanos);
        lastVsyncNanos = t.vsyncNanos;
        lastRecord = d.endRecord;
    }

    /** Removes the stacks that were taken before a time and returns those from a begin on. */
    private List<ThreadStack> stacksSince(long begin, long end) {
        List<ThreadStack> found = new ArrayList<ThreadStack>();
        for (Iterator<ThreadStack> i = stacks.iterator(); i.hasNext(); ) {
            ThreadStack s = i.next();
            if (s.nanos <= end) {
                i.remove();
                if (s.nanos >= begin) {
                    found.add(s);
                }
            }
        }
        return found;
    }

    private boolean counts(Drawn d) {
        long stopped = Math.min(stoppedEnd, d.timing.endNanos) - Math.max(stoppedBegin, d.beginNanos);
        return stopped * 2 < d.timing.endNanos - d.beginNanos
                && !environment.recorder.platform().debuggerAttached();
    }

    /** Adds a frame to the figures, and reports it if it took long. */
    private void count(Drawn d) {
        Environment e = environment;
        FrameTiming t = d.timing;
        if (!counts(d)) {
            statistics.addLost(1);
            return;
        }
        if (statistics.frames() > 0 && !(scene == null ? d.scene == null : scene.equals(d.scene))) {
            close();
        }
        scene = d.scene;
        statistics.add(t, d.late);
        if (t.endNanos - t.vsyncNanos >= FrameStatistics.FROZEN_NANOS) {
            report(d, "frozen-frame");
        } else if (d.late >= Math.ceil(least * (t.refreshHz > 0 ? t.refreshHz : UNKNOWN_RATE) / 60.0 - 1e-6)) {
            report(d, "dropped-frames");
        }
        if (statistics.drawingNanos() >= SLICE_NANOS) {
            close();
        }
    }

    private void report(Drawn d, String kind) {
        if (++incidents > MAX_INCIDENTS) {
            statistics.addUnreported();
            return;
        }
        FrameTiming t = d.timing;
        Incident.Builder b = environment.incident(kind).begin(d.beginNanos).end(t.endNanos).scene(d.scene)
                .what(d.scene == null ? "" : d.scene).records(d.firstRecord, d.endRecord);
        b.fact("dropped", d.late).fact("level", DropLevel.of(d.late, t.refreshHz).name().toLowerCase(Locale.ROOT));
        b.fact("dropped-by-others", d.others).fact("refresh-hz", t.refreshHz > 0
                ? FrameStatistics.number(t.refreshHz) : null);
        b.fact("frame-millis", FrameStatistics.millis(t.endNanos - t.vsyncNanos));
        for (ThreadStack s : d.stacks) {
            b.stack(s);
        }
        b.report();
    }

    /** Reports the figures of the scene and begins new ones. */
    private void close() {
        if (statistics.frames() > 0) {
            Incident.Builder b = environment.incident("scene-frames").scene(scene).what(scene == null ? "" : scene);
            statistics.describe(b);
            b.report();
        }
        statistics = new FrameStatistics();
        incidents = 0;
    }

    private void flush() {
        if (environment != null) {
            take();
            close();
        }
    }
}
