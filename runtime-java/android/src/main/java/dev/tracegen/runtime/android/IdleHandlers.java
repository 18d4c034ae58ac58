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
    private final transient ArrayList<MessageQueue.IdleHandler> origin;
    private transient volatile LooperMonitor monitor;

    private IdleHandlers(MessageQueue queue, ArrayList<MessageQueue.IdleHandler> origin, LooperMonitor monitor) {
        super(origin);
        this.queue = queue;
        this.origin = origin;
        this.monitor = monitor;
    }

    /**
     * Replaces the list of a queue.
     *
     * @return null if that is not possible, or if other code has already replaced the list, which is then left in
     *     place
     */
    @SuppressWarnings("unchecked")
    static IdleHandlers install(MessageQueue queue, LooperMonitor monitor) {
        try {
            synchronized (queue) {
                synchronized (LooperInternals.idleLock(queue)) {
                    Object list = LooperInternals.get(LooperInternals.IDLE_HANDLERS, queue);
                    if (list == null || list.getClass() != ArrayList.class) {
                        return null;
                    }
                    IdleHandlers own = new IdleHandlers(queue, (ArrayList<MessageQueue.IdleHandler>) list, monitor);
                    LooperInternals.IDLE_HANDLERS.set(queue, own);
                    return own.isInstalled() ? own : null;
                }
            }
        } catch (Exception e) {
            return null;
        }
    }

    boolean isInstalled() {
        return LooperInternals.get(LooperInternals.IDLE_HANDLERS, queue) == this;
    }

    /**
     * Restores the old list with the current handlers. If other code has replaced this list, it only stops measuring.
     */
    void release() {
        monitor = null;
        try {
            synchronized (queue) {
                synchronized (LooperInternals.idleLock(queue)) {
                    if (isInstalled()) {
                        origin.clear();
                        origin.addAll(this);
                        LooperInternals.IDLE_HANDLERS.set(queue, origin);
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
                all[k] = new TimedHandler(all[k], m);
            }
        }
    }

    /** The queue removes a handler that returned false by the wrapper that it was given. */
    @Override
    public boolean remove(Object o) {
        return super.remove(o instanceof TimedHandler ? ((TimedHandler) o).handler : o);
    }

    /** Runs a handler and reports its begin and end. */
    private static final class TimedHandler implements MessageQueue.IdleHandler {
        final MessageQueue.IdleHandler handler;
        private final LooperMonitor monitor;

        TimedHandler(MessageQueue.IdleHandler handler, LooperMonitor monitor) {
            this.handler = handler;
            this.monitor = monitor;
        }

        @Override
        public boolean queueIdle() {
            monitor.begin(Dispatch.idleText(handler), true);
            try {
                return handler.queueIdle();
            } finally {
                monitor.end(null);
            }
        }
    }
}
