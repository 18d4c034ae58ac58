import android.os.Handler;
import android.os.HandlerThread;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.SystemClock;
import dev.tracegen.runtime.PendingMessage;
import dev.tracegen.runtime.android.QueueSnapshot;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** What is reported of a queue's waiting messages. */
public final class PendingProofs {
    private static final class Callback implements Runnable {
        @Override
        public void run() {
        }
    }

    public void waitingMessagesAreSeenOrSaidNotAvailable() throws Exception {
        HandlerThread thread = new HandlerThread("pending");
        thread.start();
        Looper looper = thread.getLooper();
        MessageQueue queue = Bench.queue(looper);
        final CountDownLatch blocked = new CountDownLatch(1);
        final CountDownLatch go = new CountDownLatch(1);
        Handler handler = new Handler(looper);
        handler.post(new Runnable() {
            @Override
            public void run() {
                blocked.countDown();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        Bench.await(blocked);
        long due = SystemClock.uptimeMillis() + 5000;
        int token = (Integer) MessageQueue.class.getMethod("postSyncBarrier").invoke(queue);
        handler.sendEmptyMessageAtTime(42, due + 1);
        Message callback = Message.obtain(handler, new Callback());
        Message.class.getMethod("setAsynchronous", boolean.class).invoke(callback, true);
        handler.sendMessageAtTime(callback, due + 2);
        QueueSnapshot snapshot = QueueSnapshot.of(looper);
        if (Bench.lockFree) {
            Bench.equal(Bench.field(queue, MessageQueue.class, "mMessages"), null,
                    "the field of a queue in which three messages wait");
            Bench.equal(snapshot, null, "a snapshot");
        } else {
            Bench.check(snapshot != null, "not available");
            List<PendingMessage> all = snapshot.snapshot(10);
            Bench.equal(all.size(), 3, "messages");
            same(all.get(0), 0, null, null, token, false);
            same(all.get(1), 42, Handler.class.getName(), null, 0, false);
            same(all.get(2), 0, Handler.class.getName(), Callback.class.getName(), 0, true);
            Bench.equal(all.get(1).whenNanos, (due + 1) * 1000000L, "when");
            Bench.equal(snapshot.snapshot(2).size(), 2, "at most two");
        }
        Bench.check(handler.hasMessages(42), "the message has gone");
        Bench.measured("pending messages: " + (snapshot == null ? "not available" : "seen"));
        thread.quit();
        go.countDown();
        thread.join();
        Bench.equal(snapshot == null ? null : snapshot.snapshot(10).size(), snapshot == null ? null : 0,
                "of an ended looper");
        Bench.equal(QueueSnapshot.of(looper), null, "a snapshot of an ended looper");
    }

    private static void same(PendingMessage m, int what, String target, String callback, int arg1,
            boolean asynchronous) {
        Bench.equal(m.what, what, "what");
        Bench.equal(m.target, target, "target");
        Bench.equal(m.callback, callback, "callback");
        Bench.equal(m.arg1, arg1, "arg1");
        Bench.equal(m.asynchronous, asynchronous, "asynchronous");
    }
}
