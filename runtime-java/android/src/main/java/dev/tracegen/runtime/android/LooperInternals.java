package dev.tracegen.runtime.android;

import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.util.Printer;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;

/**
 * Members of {@code Looper} and {@code MessageQueue} that are not public. They are looked up once. A member that
 * cannot be reached is null; each method says what it returns then.
 */
final class LooperInternals {
    private static final Field LOGGING = field(Looper.class, "mLogging");
    private static final Field QUEUE = field(Looper.class, "mQueue");
    private static final Method GET_QUEUE = method(Looper.class, "getQueue");
    private static final Method IS_ASYNCHRONOUS = method(Message.class, "isAsynchronous");

    /** {@code ArrayList<IdleHandler>}. The field is final, but reflection may set it. */
    static final Field IDLE_HANDLERS = field(MessageQueue.class, "mIdleHandlers");

    /** The lock of the IdleHandlers in newer versions; older versions lock the queue. */
    private static final Field IDLE_LOCK = field(MessageQueue.class, "mIdleHandlersLock");

    /** The first message, in versions whose queue is a linked list. */
    static final Field MESSAGES = field(MessageQueue.class, "mMessages");

    /** The message after a message. */
    static final Field NEXT = field(Message.class, "next");

    private LooperInternals() {
    }

    /** Reports whether the printer of a Looper can be read. It can always be set. */
    static boolean canReadPrinter() {
        return LOGGING != null;
    }

    /** Returns the printer of a Looper, null for none. Only if {@link #canReadPrinter}. */
    static Printer printer(Looper looper) {
        return (Printer) get(LOGGING, looper);
    }

    /** Returns the queue of a Looper; null if it cannot be reached, which is the case in no known version. */
    static MessageQueue queue(Looper looper) {
        if (GET_QUEUE != null) {
            try {
                return (MessageQueue) GET_QUEUE.invoke(looper);
            } catch (Exception e) {
                // Read the field.
            }
        }
        return (MessageQueue) get(QUEUE, looper);
    }

    /** Returns the lock of the IdleHandlers; the queue if there is no other. */
    static Object idleLock(MessageQueue queue) {
        Object lock = get(IDLE_LOCK, queue);
        return lock == null ? queue : lock;
    }

    /** Reports whether a queue has an IdleHandler. Returns true also if that is unknown. */
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

    /** Returns the value of a field, null also if it cannot be read. */
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
