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
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages that wait in a MessageQueue that is a linked list. In apps that target Android 17 it is not: the
 * field of the first message exists and is always null. {@link #of} finds out by a test: it posts a message that is
 * due in an hour, searches for it and removes it. If it cannot be found, the queue cannot be read, whatever the
 * version.
 */
public final class QueueSnapshot implements PendingQueue {
    private static final long PROBE_DELAY_MILLIS = 3600000;

    /** More messages than any queue holds. The limit ends the walk through a damaged list. */
    private static final int MAX_MESSAGES = 100000;

    private final WeakReference<MessageQueue> queue;

    private QueueSnapshot(MessageQueue queue) {
        this.queue = new WeakReference<MessageQueue>(queue);
    }

    /**
     * Returns the reader of a Looper's queue. May be called on any thread while the Looper runs.
     *
     * @return null if the queue cannot be read
     */
    public static @Nullable QueueSnapshot of(Looper looper) {
        MessageQueue queue = LooperInternals.canReadMessages() ? LooperInternals.queue(looper) : null;
        if (queue == null) {
            return null;
        }
        Handler handler = new Handler(looper);
        Message probe = Message.obtain(handler);
        try {
            if (!handler.sendMessageDelayed(probe, PROBE_DELAY_MILLIS)) {
                return null;
            }
            synchronized (queue) {
                Message m = LooperInternals.first(queue);
                for (int k = 0; m != null && m != probe && k < MAX_MESSAGES; k++) {
                    m = LooperInternals.next(m);
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
    public @Nullable List<PendingMessage> snapshot(int max) {
        MessageQueue q = queue.get();
        if (q == null) {
            return null;
        }
        List<PendingMessage> all = new ArrayList<PendingMessage>();
        try {
            synchronized (q) {
                Message m = LooperInternals.first(q);
                for (; m != null && all.size() < max; m = LooperInternals.next(m)) {
                    all.add(pending(m));
                }
            }
            return all;
        } catch (Exception e) {
            return null;
        }
    }

    /** Uses class names and calls no method of the app: the queue is locked, and this is another thread. */
    private static PendingMessage pending(Message m) {
        Handler target = m.getTarget();
        Runnable callback = m.getCallback();
        return new PendingMessage(m.getWhen() * 1000000L, m.what, target == null ? null : target.getClass().getName(),
                callback == null ? null : callback.getClass().getName(), m.arg1, LooperInternals.isAsynchronous(m));
    }
}
