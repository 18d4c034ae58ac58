package dev.tracegen.runtime.android;

import android.os.Looper;
import android.os.MessageQueue;
import android.util.Log;
import dev.tracegen.runtime.RecorderOptions;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Watches one Looper and calls its listeners for every message, and for every IdleHandler.
 *
 * <p>It uses the Looper's {@code Printer}. A Looper has only one, and other code may replace it. Therefore the monitor
 * calls the one that it replaced itself, and from time to time, when the queue is idle, it checks whether it is still
 * called. If another one is installed and the monitor was not called during a whole message, it installs itself again
 * in front of the other. If the other one calls the monitor, the monitor leaves it in place, so that chains do not grow
 * and nothing is reported twice.
 *
 * <p>A monitor lives as long as its Looper, which holds the only lasting reference to it.
 */
public final class LooperMonitor {
    private static final String TAG = "tracegen";
    private static final Map<Looper, WeakReference<LooperMonitor>> MONITORS =
            new WeakHashMap<Looper, WeakReference<LooperMonitor>>();

    private final WeakReference<Looper> looper;
    private final Thread thread;

    /** The lock of the queue's IdleHandlers; null if it is unknown. */
    private final Object idleLock;

    private final long checkNanos;
    private final IdleCheck idleCheck = new IdleCheck();
    private final Dispatch dispatch = new Dispatch();
    private volatile LoopPrinter printer;
    private volatile IdleHandlers idleHandlers;

    /** Replaced as a whole, so that a loop over it sees the listeners that were there when it began. */
    private volatile DispatchListener[] listeners = {};

    /** Those that were called for the start of the running dispatch. */
    private volatile DispatchListener[] notified = {};

    private volatile int reinstalls;
    private volatile boolean released;
    private boolean failureLogged;

    // Used by the Looper's thread only.
    private boolean running;
    private boolean notifying;
    private boolean dispatched = true;
    private boolean replacementSeen;
    private Object replacement;
    private long nextCheck;

    private LooperMonitor(Looper looper, RecorderOptions options) {
        this.looper = new WeakReference<Looper>(looper);
        this.thread = looper.getThread();
        this.checkNanos = options.number("check") * 1000000L;
        this.nextCheck = System.nanoTime() + checkNanos;
        this.printer = LoopPrinter.install(looper, this);
        MessageQueue queue = LooperInternals.queue(looper);
        this.idleLock = queue == null ? null : LooperInternals.idleLock(looper, queue);
        if (queue != null) {
            queue.addIdleHandler(idleCheck);
        }
        if (idleLock != null && options.flag("idle-handlers")) {
            idleHandlers = IdleHandlers.install(queue, idleLock, this);
        }
    }

    /**
     * Returns the monitor of a Looper, and creates it with the default options if there is none. May be called on any
     * thread.
     *
     * @return the same object until it is released
     */
    public static LooperMonitor of(Looper looper) {
        return of(looper, new RecorderOptions());
    }

    /**
     * Returns the monitor of a Looper. May be called on any thread.
     *
     * @param options used if there is no monitor yet
     * @return the same object until it is released
     */
    public static LooperMonitor of(Looper looper, RecorderOptions options) {
        synchronized (MONITORS) {
            LooperMonitor monitor = existing(looper);
            if (monitor == null) {
                monitor = new LooperMonitor(looper, options);
                MONITORS.put(looper, new WeakReference<LooperMonitor>(monitor));
            }
            return monitor;
        }
    }

    static LooperMonitor existing(Looper looper) {
        synchronized (MONITORS) {
            WeakReference<LooperMonitor> monitor = MONITORS.get(looper);
            return monitor == null ? null : monitor.get();
        }
    }

    /** Adds a listener, which is called from the next message on. Adding it twice has no effect. */
    public synchronized void add(DispatchListener listener) {
        remove(listener);
        insert(listener, listeners.length);
    }

    /**
     * Adds a listener that is called before all others. So calls of instrumented methods in other listeners are behind
     * the end of the message, whenever those were added.
     */
    synchronized void addFirst(DispatchListener listener) {
        remove(listener);
        insert(listener, 0);
    }

    private void insert(DispatchListener listener, int at) {
        List<DispatchListener> next = new ArrayList<DispatchListener>(Arrays.asList(listeners));
        next.add(at, listener);
        listeners = next.toArray(new DispatchListener[0]);
    }

    /**
     * Removes a listener. It may still be called for the end of the running message.
     *
     * @param listener it need not have been added
     */
    public synchronized void remove(DispatchListener listener) {
        List<DispatchListener> next = new ArrayList<DispatchListener>(Arrays.asList(listeners));
        if (next.remove(listener)) {
            listeners = next.toArray(new DispatchListener[0]);
        }
    }

    /**
     * Returns what reports the messages to the monitor.
     *
     * @return {@code printer}; {@code none} if this device does not let the printer of a Looper be
     *     read, so that one of other code could be lost
     */
    public String source() {
        return LooperInternals.canReadPrinter() ? "printer" : "none";
    }

    /** Returns how often other code had replaced the monitor's printer and the monitor installed it again. */
    public int reinstalls() {
        return reinstalls;
    }

    /**
     * Reports whether listeners are called for IdleHandlers. They are not if Android does not let the queue's list be
     * replaced, if it hides the lock of the list, or if other code has replaced the list. A {@code Printer} is not
     * called for IdleHandlers.
     */
    public boolean reportsIdleHandlers() {
        IdleHandlers handlers = idleHandlers;
        return handlers != null && handlers.isInstalled();
    }

    /** Ends the monitor and restores the Looper. After that, {@link #of} creates another monitor. */
    public void release() {
        synchronized (MONITORS) {
            if (released) {
                return;
            }
            released = true;
            Looper l = looper.get();
            if (l != null) {
                MONITORS.remove(l);
                MessageQueue queue = LooperInternals.queue(l);
                if (queue != null) {
                    queue.removeIdleHandler(idleCheck);
                }
            }
        }
        IdleHandlers handlers = idleHandlers;
        if (handlers != null) {
            handlers.release();
        }
        printer.release(looper.get());
        listeners = new DispatchListener[0];
        notified = listeners;
    }

    /** Reports whether an IdleHandler is the monitor's own, for which listeners are not called. */
    boolean isOwn(Object idleHandler) {
        return idleHandler == idleCheck;
    }

    /** Returns when the message or IdleHandler began that runs; 0 if none is seen. On the Looper's thread. */
    long runningSince() {
        return running && Thread.currentThread() == thread ? dispatch.beginNanos() : 0;
    }

    /**
     * A message or an IdleHandler begins. If the one before has not ended, it has thrown, or loops are nested; then
     * it ends now.
     */
    void begin(String text, boolean idleHandler) {
        if (notifying || Thread.currentThread() != thread) {
            return;
        }
        dispatched |= !idleHandler;
        if (running) {
            end();
        }
        running = true;
        dispatch.begin(text, idleHandler, System.nanoTime());
        notified = listeners;
        notifying = true;
        for (DispatchListener listener : notified) {
            try {
                listener.dispatchStart(dispatch);
            } catch (Throwable e) {
                failed(e);
            }
        }
        notifying = false;
    }

    /** The message or IdleHandler has ended. */
    void end() {
        if (notifying || !running || Thread.currentThread() != thread) {
            return;
        }
        dispatch.end(System.nanoTime());
        running = false;
        notifying = true;
        for (DispatchListener listener : notified) {
            try {
                listener.dispatchEnd(dispatch);
            } catch (Throwable e) {
                failed(e);
            }
        }
        notifying = false;
        dispatch.clear();
        if (dispatch.endNanos() - nextCheck >= 0 && !dispatch.isIdleHandler()) {
            restoreIdleCheck();
        }
    }

    /**
     * Adds the monitor's IdleHandler again if other code has replaced the list that held it. Without it nothing would
     * be checked any more.
     */
    private void restoreIdleCheck() {
        Looper l = looper.get();
        MessageQueue queue = l == null || released || idleLock == null ? null : LooperInternals.queue(l);
        if (queue != null && !mayHaveIdleCheck(queue)) {
            queue.addIdleHandler(idleCheck);
        }
    }

    /** Returns true also if that is unknown. */
    private boolean mayHaveIdleCheck(MessageQueue queue) {
        synchronized (queue) {
            synchronized (idleLock) {
                Object list = LooperInternals.idleHandlers(queue);
                return !(list instanceof ArrayList) || ((ArrayList<?>) list).contains(idleCheck);
            }
        }
    }

    private void notifyQueueIdle() {
        notifying = true;
        for (DispatchListener listener : listeners) {
            try {
                listener.queueIdle();
            } catch (Throwable e) {
                failed(e);
            }
        }
        notifying = false;
    }

    private void failed(Throwable e) {
        if (!failureLogged) {
            failureLogged = true;
            Log.w(TAG, "a listener of the Looper of " + thread.getName() + " threw; later throws are not logged", e);
        }
    }

    /**
     * Checks whether the monitor is still called. Between two idle times there is at least one message. If the
     * monitor was not called for it, and the same other object was installed before and after it, that object does
     * not call the monitor.
     */
    private void check(boolean dispatchedSince, long now) {
        Looper l = looper.get();
        Object current = l != null && LooperInternals.canReadPrinter() ? LooperInternals.printer(l) : printer;
        if (current == printer || dispatchedSince || LoopPrinter.isFromOtherCopy(current)) {
            replacementSeen = false;
            replacement = null;
            nextCheck = now + checkNanos;
        } else if (replacementSeen && current == replacement) {
            printer.release(null);
            printer = LoopPrinter.install(l, this);
            reinstalls++;
            replacementSeen = false;
            replacement = null;
            nextCheck = now + checkNanos;
        } else {
            replacementSeen = true;
            replacement = current;
        }
    }

    /** Called by the queue whenever it is idle. */
    private final class IdleCheck implements MessageQueue.IdleHandler {
        @Override
        public boolean queueIdle() {
            if (released || Thread.currentThread() != thread) {
                return !released;
            }
            long now = System.nanoTime();
            boolean dispatchedSince = dispatched;
            dispatched = false;
            if (running) {
                // The message has thrown, and code around the loop has caught that and loops again. A printer is not
                // called then, and the next message may be far away.
                end();
            }
            notifyQueueIdle();
            if (replacementSeen || now - nextCheck >= 0) {
                check(dispatchedSince, now);
            }
            return true;
        }
    }
}
