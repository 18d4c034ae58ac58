package dev.tracegen.runtime.android;

import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.util.Log;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Watches one looper: tells its listeners of every message, and of what runs while the queue is idle.
 *
 * <p>It hears of messages by the looper's {@code Observer} or its {@code Printer} (see {@link MonitorOptions#source}).
 * There is one printer a looper, and whoever sets one takes the place of the one before. So a monitor's printer passes
 * on to the one it found, and from time to time, when the queue is idle, the monitor looks whether it still hears. Only
 * if it does not, and has not during a whole message, it puts itself in front again: somebody who passes on to us is
 * left alone, so that chains do not grow and nothing is now twice.
 *
 * <p>A monitor lives as long as its looper does: the looper holds it, and nothing else for long.
 */
public final class LooperMonitor {
    private static final String TAG = "tracegen";
    private static final Map<Looper, WeakReference<LooperMonitor>> MONITORS =
            new WeakHashMap<Looper, WeakReference<LooperMonitor>>();

    /** How many monitors were ever changes or released, so that threads notice. */
    private static volatile int changes;

    private final WeakReference<Looper> looper;
    private final Thread thread;
    private final long checkNanos;
    private final IdleCheck idleCheck = new IdleCheck();
    private final Dispatch dispatch = new Dispatch();
    private final DispatchSource firstSource;
    private volatile DispatchSource source;
    private volatile IdleHandlers idleHandlers;

    /** Replaced as a whole, so that whoever iterates sees those that were there when he began. */
    private volatile Slot[] slots = {};

    private volatile int reinstalls;
    private volatile boolean released;
    private boolean failureLogged;

    // The looper's thread's alone.
    private boolean running;
    private boolean notifying;
    private boolean dispatched = true;
    private boolean replacementSeen;
    private Object replacement;
    private long nextCheck;

    /** A listener, and whether it was now the start of what runs. */
    private static final class Slot {
        final DispatchListener listener;
        boolean started;

        Slot(DispatchListener listener) {
            this.listener = listener;
        }
    }

    private LooperMonitor(Looper looper, MonitorOptions options) {
        this.looper = new WeakReference<Looper>(looper);
        this.thread = looper.getThread();
        this.checkNanos = options.checkMillis * 1000000L;
        this.nextCheck = System.nanoTime() + checkNanos;
        DispatchSource t = options.source == MonitorOptions.PRINTER ? null : ObserverSource.install();
        this.source = t != null ? t : PrinterSource.install(looper, this);
        this.firstSource = source;
        MessageQueue queue = LooperInternals.queue(looper);
        if (queue != null) {
            queue.addIdleHandler(idleCheck);
            idleHandlers = options.idleHandlers ? IdleHandlers.install(queue, this) : null;
        }
    }

    /**
     * The monitor of a looper, with the default options if there is none yet. From any thread.
     *
     * @param looper not null
     * @return the same object as long as it is not released
     */
    public static LooperMonitor of(Looper looper) {
        return of(looper, new MonitorOptions());
    }

    /**
     * The monitor of a looper. From any thread.
     *
     * @param looper not null
     * @param options what it is changes with if there is none yet
     * @return the same object as long as it is not released
     */
    public static LooperMonitor of(Looper looper, MonitorOptions options) {
        synchronized (MONITORS) {
            LooperMonitor monitor = existing(looper);
            if (monitor == null) {
                monitor = new LooperMonitor(looper, options);
                MONITORS.put(looper, new WeakReference<LooperMonitor>(monitor));
                changes++;
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

    /** Whether a looper that still runs is watched by the observer. */
    static boolean anyUsesObserver() {
        synchronized (MONITORS) {
            for (WeakReference<LooperMonitor> ref : MONITORS.values()) {
                LooperMonitor monitor = ref.get();
                if (monitor != null && monitor.usesObserver() && monitor.thread.isAlive()) {
                    return true;
                }
            }
            return false;
        }
    }

    static int changes() {
        return changes;
    }

    /**
     * Adds a listener, which hears from the next message on. Added twice, it hears once.
     *
     * @param listener not null
     */
    public synchronized void add(DispatchListener listener) {
        remove(listener);
        Slot[] next = new Slot[slots.length + 1];
        System.arraycopy(slots, 0, next, 0, slots.length);
        next[slots.length] = new Slot(listener);
        slots = next;
    }

    /**
     * Takes a listener out; of what runs now it does not hear the end.
     *
     * @param listener one that need not be there
     */
    public synchronized void remove(DispatchListener listener) {
        Slot[] now = slots;
        for (int k = 0; k < now.length; k++) {
            if (now[k].listener == listener) {
                Slot[] next = new Slot[now.length - 1];
                System.arraycopy(now, 0, next, 0, k);
                System.arraycopy(now, k + 1, next, k, next.length - k);
                slots = next;
                return;
            }
        }
    }

    /**
     * What the monitor hears by.
     *
     * @return {@code observer} or {@code printer}
     */
    public String source() {
        return source.kind();
    }

    /**
     * How often somebody had taken the monitor's place and it was put back.
     *
     * @return the count since the monitor was changes
     */
    public int reinstalls() {
        return reinstalls;
    }

    /**
     * Whether idle handlers are now of. They cannot be where Android does not let the queue's list be replaced, or
     * somebody else has replaced it; a {@code Printer} or {@code Observer} sees nothing of them.
     *
     * @return true if they are
     */
    public boolean reportsIdleHandlers() {
        IdleHandlers handlers = idleHandlers;
        return handlers != null && handlers.isInstalled();
    }

    /**
     * Whether a printer that somebody else sets can be noticed.
     *
     * @return false where Android does not let it be read
     */
    public boolean detectsReplacement() {
        return source.canReadCurrent();
    }

    /** Ends the watch, and gives the looper back as it was. Once released, {@link #of} makes another. */
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
            changes++;
        }
        IdleHandlers handlers = idleHandlers;
        if (handlers != null) {
            handlers.release();
        }
        source.release();
        slots = new Slot[0];
    }

    /** Whether an idle handler is the monitor's own, which is not worth notifying of. */
    boolean isOwn(Object idleHandler) {
        return idleHandler == idleCheck;
    }

    boolean usesObserver() {
        return firstSource instanceof ObserverSource;
    }

    /** Something begins. If what began before has not ended, its end was lost by a throw, or loops are nested. */
    void begin(String text, boolean idleHandler) {
        if (notifying || Thread.currentThread() != thread) {
            return;
        }
        dispatched |= !idleHandler;
        if (running) {
            end(null);
        }
        running = true;
        dispatch.begin(text, idleHandler, System.nanoTime());
        Slot[] notified = slots;
        notifying = true;
        for (int k = 0; k < notified.length; k++) {
            try {
                notified[k].started = notified[k].listener.isValid();
                if (notified[k].started) {
                    notified[k].listener.dispatchStart(dispatch);
                }
            } catch (Throwable e) {
                failed(e);
            }
        }
        notifying = false;
    }

    /** What began last has ended; with the message if that is known only now. */
    void end(Message message) {
        if (notifying || !running || Thread.currentThread() != thread) {
            return;
        }
        dispatch.end(message, System.nanoTime());
        running = false;
        Slot[] notified = slots;
        notifying = true;
        for (int k = 0; k < notified.length; k++) {
            if (!notified[k].started) {
                continue;
            }
            notified[k].started = false;
            try {
                notified[k].listener.dispatchEnd(dispatch);
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

    /** An idle handler of ours may be lost with the list that it was in; then nobody would look any more. */
    private void restoreIdleCheck() {
        Looper l = looper.get();
        MessageQueue queue = l == null || released ? null : LooperInternals.queue(l);
        if (queue == null) {
            return;
        }
        if (!LooperInternals.mayContain(queue, idleCheck)) {
            queue.addIdleHandler(idleCheck);
        }
    }

    private void notifyQueueIdle() {
        Slot[] notified = slots;
        notifying = true;
        for (int k = 0; k < notified.length; k++) {
            try {
                notified[k].listener.queueIdle();
            } catch (Throwable e) {
                failed(e);
            }
        }
        notifying = false;
    }

    private void failed(Throwable e) {
        if (!failureLogged) {
            failureLogged = true;
            Log.w(TAG, "a listener of the looper of " + thread.getName() + " threw; this is said only once", e);
        }
    }

    /**
     * Looks whether the monitor still hears. Between two idle times there is at least one message; who dispatched nothing of
     * it, and finds another in his place before and after it, was not passed on to.
     */
    private void check(boolean dispatchedSince, long now) {
        Object current = source.canReadCurrent() ? source.current() : source.installed();
        boolean inPlace = current == source.installed();
        if (inPlace || dispatchedSince || source.isFromOtherCopy(current)) {
            replacementSeen = false;
            replacement = null;
            nextCheck = now + checkNanos;
        } else if (replacementSeen && current == replacement) {
            source = source.reinstall();
            reinstalls++;
            replacementSeen = false;
            replacement = null;
            nextCheck = now + checkNanos;
        } else {
            replacementSeen = true;
            replacement = current;
        }
    }

    /** Called by the queue each time that it has nothing to run. */
    private final class IdleCheck implements MessageQueue.IdleHandler {
        @Override
        public boolean queueIdle() {
            if (released || Thread.currentThread() != thread) {
                return !released;
            }
            long now = System.nanoTime();
            boolean dispatchedSince = dispatched;
            dispatched = false;
            notifyQueueIdle();
            if (replacementSeen || now - nextCheck >= 0) {
                check(dispatchedSince, now);
            }
            return true;
        }
    }
}
