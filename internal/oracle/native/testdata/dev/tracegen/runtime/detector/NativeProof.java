package dev.tracegen.runtime.detector;

import dev.tracegen.runtime.Incident;
import dev.tracegen.runtime.IncidentListener;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.ThreadTrace;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The detectors of the native library on this JVM, with the real classes, hook and signals. */
public final class NativeProof {
    private static final BlockingQueue<Incident> FOUND = new LinkedBlockingQueue<Incident>();

    private NativeProof() {
    }

    static native int connect();

    static native void receive(int number);

    static native void answer(int number);

    static native void quit();

    /** A Looper whose posted work runs at once. */
    private static final class Loop extends LoopAccess {
        private final Thread thread = Thread.currentThread();
        private final ThreadTrace trace;

        Loop(Recorder recorder) {
            trace = recorder.thread(thread);
        }

        @Override
        public ThreadTrace trace() {
            return trace;
        }

        @Override
        public Thread thread() {
            return thread;
        }

        @Override
        public boolean post(Runnable work, boolean asynchronous) {
            work.run();
            return true;
        }

        @Override
        public void remove(Runnable work) {
        }

        @Override
        public long runningSince() {
            return 0;
        }
    }

    private static Incident next(String kind) throws Exception {
        Incident i = FOUND.poll(300, TimeUnit.SECONDS);
        check(i != null && i.kind.equals(kind), kind + ", not " + i);
        return i;
    }

    private static void check(boolean is, String what) {
        if (!is) {
            throw new AssertionError("not true: " + what);
        }
    }

    private static void await(Recorder recorder, String name, String state) throws Exception {
        long end = System.nanoTime() + 300000000000L;
        while (!state.equals(recorder.detectorStates().get(name))) {
            check(System.nanoTime() < end, name + " is " + state + ", not " + recorder.detectorStates());
            Thread.sleep(1);
        }
    }

    public static void main(String[] args) throws Exception {
        final Recorder recorder = Recorder.start(new RecorderOptions());
        Recorder.setIncidentListener(new IncidentListener() {
            @Override
            public void incidentFound(Incident incident) {
                FOUND.add(incident);
            }
        });
        Detectors detectors = new Detectors(recorder, new Loop(recorder), new ThreadSchedule(recorder.platform()));
        RecorderOptions settings = new RecorderOptions();
        settings.set("native-touch.slow-millis", "50");
        detectors.add(new NativeTouch(settings));
        Anr anr = Anr.create(settings, new AnrEvidence() {
            @Override
            public String state() {
                return null;
            }
        });
        detectors.add(anr);
        detectors.add(new NativeQuit(anr));
        detectors.set("native-touch", true);
        if (args[0].equals("unsupported")) {
            await(recorder, "native-touch", "not available: " + args[1]);
            System.out.println("proved: " + args[1]);
            return;
        }
        System.loadLibrary("proof");
        await(recorder, "native-touch", Detectors.ON);
        touch(detectors, recorder);
        detectors.set("sigquit", true);
        await(recorder, "sigquit", Detectors.ON);
        for (int k = 0; k < 20; k++) {
            if (k == 19) { // The last one only: that detector takes another one within 20 seconds for the same.
                detectors.set("anr", true);
                await(recorder, "anr", Detectors.ON);
            }
            long before = System.nanoTime();
            quit();
            Incident i = next("sigquit");
            check(i.beginNanos >= before && i.beginNanos <= System.nanoTime(), "the time of the signal");
            check((k == 19 ? "none" : "null").equals(String.valueOf(i.facts.get("confirmed-by"))), "confirmed " + i);
        }
        detectors.set("sigquit", false);
        await(recorder, "sigquit", Detectors.OFF);
        System.out.println("proved: sigquit");
        System.in.read(); // Until the caller has seen what HotSpot prints.
        System.exit(0);
    }

    private static void touch(Detectors detectors, Recorder recorder) throws Exception {
        int fd = connect();
        receive(1);
        Incident begun = next("touch-lag");
        check(begun.endNanos == 0 && begun.stacks.size() == 1, "found while it lasts");
        check(begun.facts.get("connection").equals(String.valueOf(fd)), "connection");
        check(Integer.parseInt(begun.facts.get("slots")) >= 7, "slots " + begun.facts.get("slots"));
        check(System.nanoTime() - begun.beginNanos >= 50000000L, "older than the threshold");
        answer(1);
        Incident ended = next("touch-lag");
        check(ended.number == begun.number && ended.endNanos - ended.beginNanos >= 50000000L, "end");
        check(ended.facts.get("answered").equals("true"), "answered");
        detectors.set("native-touch", false);
        await(recorder, "native-touch", Detectors.OFF);
        receive(2);
        check(NativeLibrary.touchPending(new long[3 * TouchSource.EVENTS]) == 0, "silent when off");
        answer(2);
        System.out.println("proved: native-touch");
    }
}
