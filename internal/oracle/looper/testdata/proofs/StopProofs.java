import android.os.Looper;
import android.os.MessageQueue;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.util.ArrayList;
import java.util.List;

/** What is left of the runtime after a stop, and that a stop may come from anywhere. */
public final class StopProofs {
    private final App app = new App(StartProofs.directory());

    /** An idle handler that does something while it runs. */
    private static class Idle implements MessageQueue.IdleHandler {
        volatile int runs;
        final boolean keep;

        Idle(boolean keep) {
            this.keep = keep;
        }

        void work() throws Exception {
        }

        @Override
        public boolean queueIdle() {
            runs++;
            try {
                work();
            } catch (Exception e) {
                throw new IllegalStateException("in an idle handler, as planned", e);
            }
            return keep;
        }
    }

    private void start() throws Exception {
        Bench.check(TracegenRuntime.start(app, new RecorderOptions().set("output", "none")), "not recording");
        Bench.settle();
    }

    private static List<MessageQueue.IdleHandler> list() throws Exception {
        @SuppressWarnings("unchecked")
        List<MessageQueue.IdleHandler> list = (List<MessageQueue.IdleHandler>) Bench.field(
                Looper.getMainLooper().getQueue(), MessageQueue.class, "mIdleHandlers");
        return list;
    }

    /** Runs idle handlers some times and checks how often one has run and how often it is still there. */
    private static void expect(String what, final Idle idle, int runs, int left) throws Exception {
        Looper.getMainLooper().getQueue().addIdleHandler(idle);
        for (int k = 0; k < 4; k++) {
            Bench.drain();
        }
        TracegenRuntime.stop();
        final int[] found = new int[1];
        // No idle handler runs while a message does. Between its run and its removal, one that adds itself again is in
        // the list twice.
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                try {
                    for (MessageQueue.IdleHandler h : list()) {
                        found[0] += h == idle ? 1 : 0;
                    }
                    while (list().contains(idle)) {
                        Looper.getMainLooper().getQueue().removeIdleHandler(idle);
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        Bench.equal(found[0], left, what + ": times in the list");
        if (runs > 0) {
            Bench.equal(idle.runs, runs, what + ": runs");
        } else {
            Bench.check(idle.runs > 1, what + ": it ran only " + idle.runs + " times");
        }
        Bench.check(list().getClass() == ArrayList.class, what + ": the list is another");
    }

    public void aStopInAOneShotIdleHandlerLetsItEnd() throws Exception {
        start();
        expect("stop", new Idle(false) {
            @Override
            void work() {
                TracegenRuntime.stop();
            }
        }, 1, 0);
        start();
        expect("stop by another thread", new Idle(false) {
            @Override
            void work() throws Exception {
                Thread t = new Thread() {
                    @Override
                    public void run() {
                        TracegenRuntime.stop();
                    }
                };
                t.start();
                t.join();
            }
        }, 1, 0);
        start();
        expect("stop and start", new Idle(false) {
            @Override
            void work() {
                TracegenRuntime.stop();
                TracegenRuntime.start(app, new RecorderOptions().set("output", "none"));
            }
        }, 1, 0);
        start();
        expect("stop and throw", new Idle(true) {
            @Override
            void work() throws Exception {
                TracegenRuntime.stop();
                throw new Exception();
            }
        }, 1, 0);
    }

    public void aHandlerThatStaysOrComesBackIsKept() throws Exception {
        start();
        expect("one that stays", new Idle(true) {
            @Override
            void work() {
                if (runs == 2) {
                    TracegenRuntime.stop();
                }
            }
        }, 0, 1);
        for (int k = 0; k < 2; k++) {
            final boolean stops = k == 1;
            start();
            expect("one that adds itself again, " + (stops ? "with a stop" : "without a stop"), new Idle(false) {
                @Override
                void work() {
                    if (runs == 2 && stops) {
                        TracegenRuntime.stop();
                    }
                    Looper.myQueue().addIdleHandler(this);
                }
            }, 0, 1);
        }
    }
}
