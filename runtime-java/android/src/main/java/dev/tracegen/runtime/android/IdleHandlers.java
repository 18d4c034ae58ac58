package dev.tracegen.runtime.android;

import android.os.MessageQueue;
import java.util.ArrayList;

/**
 * Makes IdleHandlers visible, which a {@code Printer} is not called for. It replaces the {@code mIdleHandlers} of a
 * queue by a list that holds the same handlers. When the queue copies them into an array, it gets wrappers that
 * measure the handlers. Other code that reads the list finds the original handlers, and the old list can be restored.
 */
final class IdleHandlers extends ArrayList<MessageQueue.IdleHandler> {
    private static final long serialVersionUID = 1;

    private final transient MessageQueue queue;
    private final transient Object lock;
    private final transient ArrayList<MessageQueue.IdleHandler> origin;
    private transient volatile LooperMonitor monitor;

    private IdleHandlers(MessageQueue queue, Object lock, ArrayList<MessageQueue.IdleHandler> origin,
            LooperMonitor monitor) {
        super(origin);
        this.queue = queue;
        this.lock = lock;
        this.origin = origin;
        this.monitor = monitor;
    }

    /**
     * Replaces the list of a queue.
     *
     * @param lock of {@link LooperInternals#idleLock}
     * @return null if that is not possible, or if other code has already replaced the list, which is then left in
     *     place
     */
    @SuppressWarnings("unchecked")
    static IdleHandlers install(MessageQueue queue, Object lock, LooperMonitor monitor) {
        try {
            synchronized (queue) {
                synchronized (lock) {
                    Object list = LooperInternals.idleHandlers(queue);
                    if (list == null || list.getClass() != ArrayList.class) {
                        return null;
                    }
                    IdleHandlers own = new IdleHandlers(queue, lock, (ArrayList<MessageQueue.IdleHandler>) list,
                            monitor);
                    LooperInternals.setIdleHandlers(queue, own);
                    return own.isInstalled() ? own : null;
                }
            }
        } catch (Exception e) {
            return null;
        }
    }

    boolean isInstalled() {
        return LooperInternals.idleHandlers(queue) == this;
    }

    /**
     * Restores the old list with the current handlers. If other code has replaced this list, it only stops measuring.
     */
    void release() {
        monitor = null;
        try {
            synchronized (queue) {
                synchronized (lock) {
                    if (isInstalled()) {
                        origin.clear();
                        origin.addAll(this);
                        LooperInternals.setIdleHandlers(queue, origin);
                    }
                }
            }
        } catch (Exception e) {
            // This list stays and behaves as an ArrayList.
        }
    }

    /** The queue copies its handlers by this method before it runs them. */
    @Override
    public <T> T[] toArray(T[] a) {
        T[] all = super.toArray(a);
        LooperMonitor m = monitor;
        if (m != null && all.getClass().getComponentType() == MessageQueue.IdleHandler.class) {
            wrap((MessageQueue.IdleHandler[]) all, m);
        }
        return all;
    }

    private void wrap(MessageQueue.IdleHandler[] all, LooperMonitor m) {
        for (int k = 0; k < size(); k++) {
            if (!m.isOwn(all[k])) {
                all[k] = new TimedHandler(all[k], queue, m);
            }
        }
    }

    /** The queue removes a handler that has returned false, by its wrapper. The wrapper has removed it already. */
    @Override
    public boolean remove(Object o) {
        return !(o instanceof TimedHandler) && super.remove(o);
    }

    /**
     * Runs a handler and reports its begin and end.
     *
     * <p>The queue removes the object that it ran, this wrapper, if it returned false or threw. It removes it from the
     * list that the queue has then. That may be another list than the one that made the wrapper, if the handler or
     * another thread has stopped the recorder meanwhile, and other lists know only the handler. So the wrapper itself
     * removes the handler, once, by the queue's own method, which takes the right lock in all versions.
     */
    private static final class TimedHandler implements MessageQueue.IdleHandler {
        private final MessageQueue.IdleHandler handler;
        private final MessageQueue queue;
        private final LooperMonitor monitor;

        TimedHandler(MessageQueue.IdleHandler handler, MessageQueue queue, LooperMonitor monitor) {
            this.handler = handler;
            this.queue = queue;
            this.monitor = monitor;
        }

        @Override
        public boolean queueIdle() {
            boolean keep = false;
            monitor.begin(Dispatch.idleText(handler), true);
            try {
                keep = handler.queueIdle();
                return keep;
            } finally {
                monitor.end();
                if (!keep) {
                    queue.removeIdleHandler(handler);
                }
            }
        }
    }
}
