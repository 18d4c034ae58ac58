package dev.tracegen.runtime.android;

import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.util.Printer;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;

/**
 * What of {@code Looper} and {@code MessageQueue} is not public. Looked up once; what cannot be had is null, and the
 * methods say what they give then.
 */
final class LooperInternals {
    private static final Field LOGGING = field(Looper.class, "mLogging");
    private static final Field QUEUE = field(Looper.class, "mQueue");
    private static final Method GET_QUEUE = method(Looper.class, "getQueue");
    private static final Method IS_ASYNCHRONOUS = method(Message.class, "isAsynchronous");

    /** {@code ArrayList<IdleHandler>}, final, which reflection may set nevertheless. */
    static final Field IDLE_HANDLERS = field(MessageQueue.class, "mIdleHandlers");

    /** What newer queues guard their idle handlers with; older ones use themselves. */
    private static final Field IDLE_LOCK = field(MessageQueue.class, "mIdleHandlersLock");

    /** The next message, in queues that are a list. */
    static final Field MESSAGES = field(MessageQueue.class, "mMessages");

    /** The one after it. */
    static final Field NEXT = field(Message.class, "next");

    private LooperInternals() {
    }

    /** Whether a looper's printer can be read; it can always be set. */
    static boolean canReadPrinter() {
        return LOGGING != null;
    }

    /** The looper's printer, null for none. Only if {@link #canReadPrinter}. */
    static Printer printer(Looper looper) {
        return (Printer) get(LOGGING, looper);
    }

    /** The looper's queue; null if it cannot be had, which is so on no known version. */
    static MessageQueue queue(Looper looper) {
        if (GET_QUEUE != null) {
            try {
                return (MessageQueue) GET_QUEUE.invoke(looper);
            } catch (Exception e) {
                // The field, then.
            }
        }
        return (MessageQueue) get(QUEUE, looper);
    }

    /** What guards the idle handlers beside the queue itself; the queue if there is nothing else. */
    static Object idleLock(MessageQueue queue) {
        Object lock = get(IDLE_LOCK, queue);
        return lock == null ? queue : lock;
    }

    /** Whether a queue has an idle handler, as far as can be told: false only if it has not. */
    static boolean mayContain(MessageQueue queue, MessageQueue.IdleHandler handler) {
        synchronized (queue) {
            synchronized (idleLock(queue)) {
                Object list = get(IDLE_HANDLERS, queue);
                return !(list instanceof ArrayList) || ((ArrayList<?>) list).contains(handler);
            }
        }
    }

    static boolean isAsynchronous(Message message) {
        try {
            return IS_ASYNCHRONOUS != null && (Boolean) IS_ASYNCHRONOUS.invoke(message);
        } catch (Exception e) {
            return false;
        }
    }

    /** A field's value, null also if it cannot be read. */
    static Object get(Field field, Object of) {
        try {
            return field == null ? null : field.get(of);
        } catch (Exception e) {
            return null;
        }
    }

    private static Field field(Class<?> type, String name) {
        try {
            Field f = type.getDeclaredField(name);
            f.setAccessible(true);
            return f;
        } catch (Throwable e) {
            return null;
        }
    }

    private static Method method(Class<?> type, String name) {
        try {
            return type.getMethod(name);
        } catch (Throwable e) {
            return null;
        }
    }
}
