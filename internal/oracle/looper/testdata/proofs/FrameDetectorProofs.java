import android.view.Choreographer;
import dev.tracegen.device.Device;
import dev.tracegen.runtime.FrameTiming;
import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.detector.Frames;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** What the detector of frames reports of Android's own Choreographer. */
public final class FrameDetectorProofs {
    private final App app = new App(StartProofs.directory());

    /** Draws frames, one of which takes long. */
    private static final class Drawing implements Choreographer.FrameCallback, Runnable {
        final CountDownLatch done = new CountDownLatch(1);
        private final int slow;
        private final long slowMillis;
        private int left;
        long due;

        Drawing(int frames, int slow, long slowMillis) {
            left = frames;
            this.slow = slow;
            this.slowMillis = slowMillis;
        }

        @Override
        public void run() {
            Choreographer.getInstance().postFrameCallback(this);
        }

        @Override
        public void doFrame(long due) {
            if (left == slow) {
                lateWork(slowMillis);
            }
            this.due = due;
            if (--left > 0) {
                Choreographer.getInstance().postFrameCallback(this);
            } else {
                done.countDown();
            }
        }
    }

    /** The method that the stacks must name. */
    private static void lateWork(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static long draw(int frames, int slow, long millis) throws Exception {
        Drawing d = new Drawing(frames, slow, millis);
        Bench.main.post(d);
        Bench.await(d.done);
        Bench.drain();
        return d.due;
    }

    private static RecorderOptions config() {
        return new RecorderOptions().set("output", "none");
    }

    private static boolean names(List<dev.tracegen.runtime.ThreadStack> stacks, String method) {
        for (dev.tracegen.runtime.ThreadStack s : stacks) {
            for (StackTraceElement e : s.frames) {
                if (e.getMethodName().equals(method)) {
                    return true;
                }
            }
        }
        return false;
    }

    public void aLateFrameIsReportedWithTheMethodThatRan() throws Exception {
        Switched s = Switched.start(app, "frames", config());
        Recorder.current().scene("Feed");
        Incident late = null;
        // On a busy machine a frame may take longer than 300 ms, and is a frozen one then.
        for (int k = 0; k < 100 && late == null; k++) {
            draw(6, 4, 200);
            draw(3, 0, 0);
            for (Incident i : s.of("dropped-frames")) {
                late = names(i.stacks, "lateWork") ? i : late;
            }
        }
        Bench.check(late != null, "no dropped frames with the method that ran: " + s.of("dropped-frames"));
        Bench.check(Integer.parseInt(late.facts.get("dropped")) >= 9, late.facts.toString());
        Bench.check(!late.facts.get("level").equals("best") && !late.facts.get("level").equals("normal"),
                late.facts.toString());
        Bench.equal(late.scene, "Feed", "the scene");
        Incident frozen = null;
        for (int k = 0; k < 60 && frozen == null; k++) {
            draw(6, 4, 750);
            s.await("frozen-frame");
            for (Incident i : s.of("frozen-frame")) {
                frozen = i.facts.get("level").equals("frozen") && names(i.stacks, "lateWork") ? i : frozen;
            }
        }
        Bench.check(frozen != null, "no frozen frame with the method that ran: " + s.of("frozen-frame"));
        s.on(false);
        Incident figures = s.await("scene-frames");
        Bench.equal(figures.scene, "Feed", "the scene of the figures");
        Bench.check(Integer.parseInt(figures.facts.get("frames")) >= 15, figures.facts.toString());
        s.stop();
        Bench.measured("a frame of 200 ms: " + late.facts + ", " + late.stacks.size() + " stacks");
    }

    public void anIdleAppRequestsNoFrame() throws Exception {
        Switched s = Switched.start(app, "frames", config());
        for (int round = 0; round < 2; round++) {
            long before = Device.vsyncsRequested();
            for (int k = 0; k < 10; k++) {
                Thread.sleep(40);
                Bench.drain();
            }
            Bench.equal(Device.vsyncsRequested() - before, 0L, "frames requested while the app draws nothing");
            draw(150, 0, 0);
        }
        // On a busy machine Android requests a vsync again if the display has none that is new.
        long with = Long.MAX_VALUE;
        long without = 0;
        for (int k = 0; k < 10 && with > Math.max(without, 150) + 15; k++) {
            long before = Device.vsyncsRequested();
            draw(150, 0, 0);
            with = Device.vsyncsRequested() - before;
            s.on(false);
            before = Device.vsyncsRequested();
            draw(150, 0, 0);
            without = Device.vsyncsRequested() - before;
            s.on(true);
        }
        Bench.check(with <= Math.max(without, 150) + 15, with + " frames requested with the detector, " + without
                + " without");
        s.stop();
    }

    public void theRateOfThePanelIsFollowed() throws Exception {
        Switched s = Switched.start(app, "frames", config());
        draw(20, 0, 0);
        Device.setRefreshRate(120);
        try {
            // The rate is read at most once a second.
            for (int k = 0; k < 8; k++) {
                Thread.sleep(200);
                draw(20, 0, 0);
            }
            s.on(false);
        } finally {
            Device.setRefreshRate(60);
        }
        String rates = "";
        for (Incident i : s.of("scene-frames")) {
            rates += i.facts.get("refresh-hz") + " ";
        }
        s.await("scene-frames");
        for (Incident i : s.of("scene-frames")) {
            rates += i.facts.get("refresh-hz") + " ";
        }
        Bench.check(rates.contains("60-120"), "refresh rates " + rates);
        s.stop();
    }

    /** Measures what the detector costs the main thread for each frame. The time is for the record only. */
    public void theCostOfAFrame() throws Exception {
        final Switched s = Switched.start(app, "frames", config());
        Object times = Bench.field(s.session, s.session.getClass(), "frames");
        final Frames frames = (Frames) Bench.field(times, times.getClass(), "detector");
        final int batch = 500;
        final com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        final List<Long> nanos = new ArrayList<Long>();
        final long[] bytes = new long[1];
        final java.util.concurrent.atomic.AtomicInteger lost =
                (java.util.concurrent.atomic.AtomicInteger) Bench.field(frames, Frames.class, "lost");
        for (int k = 0; k < 40; k++) {
            Bench.onMain(new Runnable() {
                @Override
                public void run() {
                    long id = Thread.currentThread().getId();
                    long b = threads.getThreadAllocatedBytes(id);
                    long begin = System.nanoTime();
                    for (int j = 0; j < batch; j++) {
                        long vsync = begin + j;
                        FrameTiming timing = new FrameTiming(vsync, vsync, vsync + 4000000, 0, 60);
                        frames.frame(timing, 0);
                    }
                    nanos.add((System.nanoTime() - begin) / batch);
                    bytes[0] = (threads.getThreadAllocatedBytes(id) - b) / batch;
                }
            });
            Bench.equal(lost.get(), 0, "frames that the detector has not taken");
            // The detector empties its queue every 50 ms.
            final java.util.Queue<?> queue = (java.util.Queue<?>) Bench.field(frames, Frames.class, "drawn");
            Bench.until("the detector has taken all frames", new Bench.Condition() {
                @Override
                public boolean holds() {
                    return queue.isEmpty();
                }
            });
        }
        java.util.Collections.sort(nanos);
        Bench.measured("the detector frames costs the main thread " + nanos.get(0) + " ns a frame at least, "
                + nanos.get(nanos.size() / 2) + " ns in the median, and " + bytes[0] + " bytes");
        s.stop();
    }
}
