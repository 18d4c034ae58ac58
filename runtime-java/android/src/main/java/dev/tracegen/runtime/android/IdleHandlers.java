package dev.tracegen.runtime.android;

import android.os.MessageQueue;
import java.util.ArrayList;

/**
 * Makes idle handlers visible, which a {@code Printer} sees nothing of: stands in a queue's {@code mIdleHandlers} as a
 * list that holds the handlers as they are, and gives the queue others that run them when it copies them out. So
 * whoever else looks into the list finds what he put there, and to take it away again is to put the old list back.
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
     * Takes the place of a queue's list.
     *
     * @return null if that is not possible, or if somebody has put a list of his own there, which is left alone
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

    /** Puts the old list back, with what the list now holds. If somebody has replaced list, it just runs handlers. */
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
            // Ours stays, and does what an ArrayList does.
        }
    }

    /** The queue copies its handlers out before it runs them. */
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

    /** The queue takes out what it was given: a handler that wants to run no more. */
    @Override
    public boolean remove(Object o) {
        return super.remove(o instanceof TimedHandler ? ((TimedHandler) o).handler : o);
    }

    /** Runs a handler and tells how long it took. */
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
