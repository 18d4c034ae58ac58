import android.os.Looper;
import android.os.MessageQueue;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.Dispatch;
import dev.tracegen.runtime.android.DispatchListener;
import dev.tracegen.runtime.android.LooperMonitor;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** What is reported of idle handlers, and that they are left as they were. */
public final class IdleProofs {
    private static final class Idle implements MessageQueue.IdleHandler {
        final boolean keep;
        volatile int runs;
        volatile int millis;
        volatile long nanos;
        volatile boolean throwing;

        Idle(boolean keep) {
            this.keep = keep;
        }

        @Override
        public boolean queueIdle() {
            runs++;
            long begin = System.nanoTime();
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            nanos = System.nanoTime() - begin;
            if (throwing) {
                throw new IllegalStateException("in an idle handler, as planned");
            }
            return keep;
        }
    }

    private static final class Nothing implements Runnable {
        @Override
        public void run() {
        }
    }

    /** What is reported of idle handlers of this class. */
    private static final class IdleLog extends DispatchListener {
        final List<Long> nanos = Collections.synchronizedList(new ArrayList<Long>());
        volatile int starts;
        volatile int idle;

        @Override
        public void dispatchStart(Dispatch d) {
            starts += mine(d) ? 1 : 0;
        }

        @Override
        public void dispatchEnd(Dispatch d) {
            if (mine(d)) {
                nanos.add(d.endNanos() - d.beginNanos());
            }
        }

        @Override
        public void queueIdle() {
            idle++;
        }

        private static boolean mine(Dispatch d) {
            return d.isIdleHandler() && d.text().equals("IdleHandler " + Idle.class.getName());
        }
    }

    private static RecorderOptions options() {
        return new RecorderOptions().set("check", "0");
    }

    @SuppressWarnings("unchecked")
    private static ArrayList<MessageQueue.IdleHandler> list() throws Exception {
        return (ArrayList<MessageQueue.IdleHandler>) Bench.field(Looper.getMainLooper().getQueue(),
                MessageQueue.class, "mIdleHandlers");
    }

    private static void replace(ArrayList<MessageQueue.IdleHandler> list) throws Exception {
        Field f = MessageQueue.class.getDeclaredField("mIdleHandlers");
        f.setAccessible(true);
        f.set(Looper.getMainLooper().getQueue(), list);
    }

    public void aSlowIdleHandlerIsSeen() throws Exception {
        MessageQueue queue = Looper.getMainLooper().getQueue();
        LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(), options());
        Bench.equal(monitor.reportsIdleHandlers(), Bench.seesIdleHandlers(), "idle handlers are seen");
        if (!Bench.seesIdleHandlers()) {
            Bench.check(list().getClass() == ArrayList.class, "the list was replaced without its lock");
            monitor.release();
            return;
        }
        final IdleLog log = new IdleLog();
        monitor.add(log);
        Idle slow = new Idle(false);
        slow.millis = 300;
        queue.addIdleHandler(slow);
        Bench.drain();
        // No message comes that would end it.
        Bench.until("the idle handler has ended", new Bench.Condition() {
            @Override
            public boolean holds() {
                return !log.nanos.isEmpty();
            }
        });
        monitor.release();
        Bench.equal(log.starts, 1, "starts");
        Bench.check(log.nanos.size() == 1 && log.nanos.get(0) >= slow.nanos, "told " + log.nanos + ", took "
                + slow.nanos);
        Bench.check(log.idle > 0, "the idle queue is not told of");
        Bench.measured("an idle handler of 300 ms: " + (log.nanos.get(0) - slow.nanos) / 1000
                + " us longer than its work");
    }

    public void fault14EarlierIdleHandlersStay() throws Exception {
        MessageQueue queue = Looper.getMainLooper().getQueue();
        ArrayList<MessageQueue.IdleHandler> original = list();
        Idle before = new Idle(true);
        Idle removed = new Idle(true);
        Idle once = new Idle(false);
        queue.addIdleHandler(before);
        queue.addIdleHandler(removed);
        queue.addIdleHandler(once);
        LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(), options());
        Idle after = new Idle(true);
        queue.addIdleHandler(after);
        Bench.drain();
        Bench.drain();
        Bench.check(before.runs >= 2 && removed.runs >= 2 && after.runs >= 2, "runs: " + before.runs + " "
                + removed.runs + " " + after.runs);
        Bench.equal(once.runs, 1, "runs of one that wants no more");
        queue.removeIdleHandler(removed);
        int runs = removed.runs;
        Bench.drain();
        Bench.equal(removed.runs, runs, "runs after it was removed");
        // A handler that returns false, as drain's, is removed before the next message at the latest.
        Bench.onMain(new Nothing());
        monitor.release();
        Bench.check(list() == original, "after release the list is another");
        Bench.equal(list(), Arrays.<MessageQueue.IdleHandler>asList(before, after), "after release the list holds");
        runs = before.runs;
        Bench.drain();
        Bench.check(before.runs > runs, "after release a handler runs no more");
        queue.removeIdleHandler(before);
        queue.removeIdleHandler(after);
    }

    public void fault14AnIdleHandlerThatThrowsIsEnded() throws Exception {
        MessageQueue queue = Looper.getMainLooper().getQueue();
        LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(), options());
        IdleLog log = new IdleLog();
        monitor.add(log);
        Idle bad = new Idle(true);
        bad.throwing = true;
        queue.addIdleHandler(bad);
        Bench.drain();
        Bench.drain();
        monitor.release();
        // The queue logs the exception, and removes the handler.
        Bench.equal(bad.runs, 1, "runs");
        Bench.equal(log.nanos.size(), Bench.seesIdleHandlers() ? 1 : 0, "ends");
        Bench.check(!list().contains(bad), "it is still there");
    }

    public void fault14AReplacedListDoesNotEndTheWatch() throws Exception {
        if (!Bench.seesIdleHandlers()) {
            return;
        }
        ArrayList<MessageQueue.IdleHandler> original = list();
        LooperMonitor monitor = LooperMonitor.of(Looper.getMainLooper(), options());
        MonitorProofs.Log log = new MonitorProofs.Log();
        monitor.add(log);
        // As Matrix does: it sets an empty list, which removes every handler.
        final ArrayList<MessageQueue.IdleHandler> theirs = new ArrayList<MessageQueue.IdleHandler>() {
            private static final long serialVersionUID = 1;
        };
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                try {
                    replace(theirs);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        Bench.check(!monitor.reportsIdleHandlers(), "it does not notice that idle handlers are not seen");
        Bench.drain();
        Bench.drain();
        Looper.getMainLooper().setMessageLogging(null);
        for (int k = 0; monitor.reinstalls() == 0 && k < 100; k++) {
            Bench.drain();
        }
        Bench.equal(monitor.reinstalls(), 1, "won back, though the list was replaced");
        monitor.release();
        Bench.check(list() == theirs, "somebody else's list was taken out");
        replace(original);
        original.clear();
    }
}
