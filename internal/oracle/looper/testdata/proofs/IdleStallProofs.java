import android.os.Handler;
import android.os.Looper;
import android.os.MessageQueue;
import dev.tracegen.runtime.MessageRecord;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Runs of IdleHandlers as stalls, with their own threshold, and handlers that change the list while they run. */
public final class IdleStallProofs implements StallListener {
    private final App app = new App(StartProofs.directory());
    private final BlockingQueue<Stall> stalls = new ArrayBlockingQueue<Stall>(100);

    @Override
    public void stallEnded(Stall stall) {
        stalls.add(stall);
    }

    private void start() throws Exception {
        RecorderOptions config = new RecorderOptions().set("output", "none");
        config.slowMillis(60).set("slow-idle", "300");
        Recorder.setStallListener(this);
        Bench.check(TracegenRuntime.start(app, config), "not recording");
        Bench.settle();
    }

    private static void stop() throws Exception {
        TracegenRuntime.stop();
        Recorder.setStallListener(null);
        Bench.ended();
    }

    /** Sleeps, then does something, and is run once. */
    private static class Sleeper implements MessageQueue.IdleHandler {
        private final int millis;
        final CountDownLatch done = new CountDownLatch(1);
        volatile long nanos;

        Sleeper(int millis) {
            this.millis = millis;
        }

        void work() {
        }

        @Override
        public boolean queueIdle() {
            long begin = System.nanoTime();
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            nanos = System.nanoTime() - begin;
            work();
            done.countDown();
            return false;
        }
    }

    private static final class Short extends Sleeper {
        Short() {
            super(100);
        }
    }

    private static final class Long extends Sleeper {
        Long() {
            super(400);
        }
    }

    private static void run(Sleeper s) throws Exception {
        Looper.getMainLooper().getQueue().addIdleHandler(s);
        Bench.drain();
        Bench.await(s.done);
    }

    public void anIdleHandlerHasItsOwnThreshold() throws Exception {
        start();
        try {
            Sleeper shorter = new Short();
            run(shorter);
            run(new Long());
            if (!Bench.seesIdleHandlers()) {
                Bench.seen("an idle handler of 2 s", "no");
                Bench.drain();
                Bench.check(stalls.isEmpty(), "a stall of an idle handler that cannot be seen");
                return;
            }
            Bench.drain();
            int kinds = 0;
            for (MessageRecord m : Recorder.current().thread(Looper.getMainLooper().getThread()).history()) {
                boolean mine = m.description.startsWith("IdleHandler " + IdleStallProofs.class.getName());
                kinds += mine && m.kind == MessageRecord.IDLE_HANDLER ? 1 : 0;
            }
            Bench.equal(kinds, 2, "runs of the kind");
            int longer = 1;
            for (Thread.State state = null; state != Thread.State.TIMED_WAITING;) {
                Stall s = stalls.poll(20, TimeUnit.SECONDS);
                if (s == null) {
                    // A process that gets no CPU counts as suspended, so that what sleeps meanwhile is no stall.
                    Bench.check(longer++ < 10, "no stall");
                    run(new Long());
                    continue;
                }
                // On a busy machine it may take longer.
                Bench.check(!s.description.contains(Short.class.getName()) || shorter.nanos >= 250000000L,
                        "one of 100 ms is a stall");
                if (s.description.contains(Long.class.getName())) {
                    Bench.check(s.wallNanos >= 400000000L, "it lasted " + s.wallNanos);
                    state = s.stateAtThreshold;
                    if (state != Thread.State.TIMED_WAITING) {
                        // The sampler came late, when it was over.
                        Bench.check(longer++ < 60, "state at the threshold: " + state);
                        run(new Long());
                    }
                }
            }
            Bench.seen("an idle handler of 2 s", "yes");
        } finally {
            stop();
        }
    }

    /** Adds and removes handlers, itself too, while the queue runs its copy of them. */
    public void handlersThatChangeTheListWhileItRuns() throws Exception {
        String bare = change();
        start();
        try {
            Bench.equal(change(), bare, "runs with the recorder, and without");
        } finally {
            stop();
        }
    }

    private static String change() throws Exception {
        final MessageQueue queue = Looper.getMainLooper().getQueue();
        final List<String> log = new CopyOnWriteArrayList<String>();
        final MessageQueue.IdleHandler added = new MessageQueue.IdleHandler() {
            @Override
            public boolean queueIdle() {
                log.add("added");
                return false;
            }
        };
        final MessageQueue.IdleHandler victim = new MessageQueue.IdleHandler() {
            @Override
            public boolean queueIdle() {
                log.add("victim");
                return true;
            }
        };
        final CountDownLatch ready = new CountDownLatch(1);
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                queue.addIdleHandler(new MessageQueue.IdleHandler() {
                    @Override
                    public boolean queueIdle() {
                        log.add("first");
                        queue.removeIdleHandler(victim);
                        queue.addIdleHandler(added);
                        queue.removeIdleHandler(this);
                        ready.countDown();
                        return true;
                    }
                });
                queue.addIdleHandler(victim);
                // One that is there twice and wants to be removed: one of both stays.
                MessageQueue.IdleHandler twice = new MessageQueue.IdleHandler() {
                    @Override
                    public boolean queueIdle() {
                        log.add("twice");
                        return false;
                    }
                };
                queue.addIdleHandler(twice);
                queue.addIdleHandler(twice);
            }
        });
        Bench.await(ready);
        Bench.drain();
        Bench.drain();
        Bench.drain();
        return log.toString();
    }
}
