package dev.tracegen.runtime.android;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import dev.tracegen.runtime.PendingMessage;
import dev.tracegen.runtime.PendingQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * Shows what waits in a looper's queue, where that is a list of messages. For apps that target Android 17 it is not any
 * more: the field is there and always null. So a message of our own is put in, due in an hour, and looked for, and
 * taken out: a queue in which it cannot be found cannot be looked into, whatever its version.
 */
public final class QueueSnapshot implements PendingQueue {
    private static final long PROBE_DELAY_MILLIS = 3600000;

    /** More than any queue holds; it ends a walk through a list that was broken. */
    private static final int MAX_MESSAGES = 100000;

    private final WeakReference<MessageQueue> queue;

    private QueueSnapshot(MessageQueue queue) {
        this.queue = new WeakReference<MessageQueue>(queue);
    }

    /**
     * Looks whether a looper's queue can be seen. From any thread, while the looper runs.
     *
     * @param looper not null
     * @return null if it cannot be seen
     */
    public static QueueSnapshot of(Looper looper) {
        MessageQueue queue = LooperInternals.queue(looper);
        if (queue == null || LooperInternals.MESSAGES == null || LooperInternals.NEXT == null) {
            return null;
        }
        Handler handler = new Handler(looper);
        Message probe = Message.obtain(handler);
        try {
            if (!handler.sendMessageDelayed(probe, PROBE_DELAY_MILLIS)) {
                return null;
            }
            synchronized (queue) {
                Message m = first(queue);
                for (int k = 0; m != null && m != probe && k < MAX_MESSAGES; k++) {
                    m = next(m);
                }
                return m == probe ? new QueueSnapshot(queue) : null;
            }
        } catch (Exception e) {
            return null;
        } finally {
            handler.removeCallbacksAndMessages(null);
        }
    }

    @Override
    public List<PendingMessage> snapshot(int max) {
        MessageQueue q = queue.get();
        if (q == null) {
            return null;
        }
        List<PendingMessage> all = new ArrayList<PendingMessage>();
        try {
            synchronized (q) {
                Message m = first(q);
                for (; m != null && all.size() < max; m = next(m)) {
                    all.add(pending(m));
                }
            }
            return all;
        } catch (Exception e) {
            return null;
        }
    }

    /** Names classes and asks no object for its words: the queue is locked, and this is not its thread. */
    private static PendingMessage pending(Message m) {
        Handler target = m.getTarget();
        Runnable callback = m.getCallback();
        return new PendingMessage(m.getWhen() * 1000000L, m.what, target == null ? null : target.getClass().getName(),
                callback == null ? null : callback.getClass().getName(), m.arg1, LooperInternals.isAsynchronous(m));
    }

    private static Message first(MessageQueue q) throws IllegalAccessException {
        return (Message) LooperInternals.MESSAGES.get(q);
    }

    private static Message next(Message m) throws IllegalAccessException {
        return (Message) LooperInternals.NEXT.get(m);
    }
}
