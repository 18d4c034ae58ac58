package dev.tracegen.runtime.android;

import android.os.Build;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.util.Printer;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;

/**
 * Members of {@code Looper}, {@code MessageQueue} and {@code Message} that are hidden, or newer than the classes that
 * this library is compiled with. They are looked up at the first use. A member that cannot be reached is null; each
 * method says what it returns then.
 */
final class LooperInternals {
    /** The first version whose queue may have {@code mIdleHandlersLock}. Older ones have one lock, the queue itself. */
    private static final int FIRST_WITH_TWO_LOCKS = 35;

    private LooperInternals() {
    }

    /** Members that are public in newer versions. */
    private static final class Newer {
        /** Android 6. */
        static final Method GET_QUEUE = Reflection.method(Looper.class, "getQueue");

        /** Android 5.1. */
        static final Method IS_ASYNCHRONOUS = Reflection.method(Message.class, "isAsynchronous");

        /** Android 5.1. */
        static final Method SET_ASYNCHRONOUS = Reflection.method(Message.class, "setAsynchronous", boolean.class);
    }

    /** Hidden members. This class is initialized when one of them is needed. */
    private static final class Hidden {
        static final Field LOGGING = Reflection.field(Looper.class, "mLogging");
        static final Field QUEUE = Reflection.field(Looper.class, "mQueue");

        /** {@code ArrayList<IdleHandler>}. The field is final, but reflection may set it. */
        static final Field IDLE_HANDLERS = Reflection.field(MessageQueue.class, "mIdleHandlers");

        /** The lock of the IdleHandlers of a queue that is not a linked list. */
        static final Field IDLE_LOCK = Reflection.field(MessageQueue.class, "mIdleHandlersLock");

        /** The first message, in versions whose queue is a linked list. */
        static final Field MESSAGES = Reflection.field(MessageQueue.class, "mMessages");

        /** The message after a message. */
        static final Field NEXT = Reflection.field(Message.class, "next");

    }

    /** Reports whether the printer of a Looper can be read. It can always be set. */
    static boolean canReadPrinter() {
        return Hidden.LOGGING != null;
    }

    /** Returns the printer of a Looper, null for none. Only if {@link #canReadPrinter}. */
    static Printer printer(Looper looper) {
        return (Printer) Reflection.get(Hidden.LOGGING, looper);
    }

    /** Returns the queue of a Looper; null if it cannot be reached. */
    static MessageQueue queue(Looper looper) {
        if (Looper.myLooper() == looper) {
            return Looper.myQueue();
        }
        if (Newer.GET_QUEUE != null) {
            try {
                return (MessageQueue) Newer.GET_QUEUE.invoke(looper);
            } catch (Exception e) {
                // Read the field.
            }
        }
        return (MessageQueue) Reflection.get(Hidden.QUEUE, looper);
    }

    /**
     * Returns the lock of a queue's IdleHandlers, to be taken while the lock of the queue is held. Two kinds of queues
     * exist since Android 15: one that is a linked list locks itself, the other {@code mIdleHandlersLock}. Where the
     * field is denied, only a queue that is found to be a linked list is safe. With the wrong lock, a handler that
     * another thread adds could be lost.
     *
     * @return null if it is unknown; then the list must not be touched
     */
    static Object idleLock(Looper looper, MessageQueue queue) {
        Object lock = Reflection.get(Hidden.IDLE_LOCK, queue);
        if (lock != null) {
            return lock;
        }
        return Build.VERSION.SDK_INT < FIRST_WITH_TWO_LOCKS || QueueSnapshot.of(looper) != null ? queue : null;
    }

    /** Returns the list of a queue's IdleHandlers, null if it cannot be read. */
    static Object idleHandlers(MessageQueue queue) {
        return Reflection.get(Hidden.IDLE_HANDLERS, queue);
    }

    /** Replaces the list of a queue's IdleHandlers. Only if it could be read. */
    static void setIdleHandlers(MessageQueue queue, ArrayList<MessageQueue.IdleHandler> list) throws Exception {
        Hidden.IDLE_HANDLERS.set(queue, list);
    }

    /** Reports whether {@link #first} and {@link #next} can be called. */
    static boolean canReadMessages() {
        return Hidden.MESSAGES != null && Hidden.NEXT != null;
    }

    static Message first(MessageQueue queue) throws IllegalAccessException {
        return (Message) Hidden.MESSAGES.get(queue);
    }

    static Message next(Message message) throws IllegalAccessException {
        return (Message) Hidden.NEXT.get(message);
    }

    static boolean isAsynchronous(Message message) {
        try {
            return Newer.IS_ASYNCHRONOUS != null && (Boolean) Newer.IS_ASYNCHRONOUS.invoke(message);
        } catch (Exception e) {
            return false;
        }
    }

    /** Makes a message one that no sync barrier holds up. Returns false if that is not possible. */
    static boolean setAsynchronous(Message message) {
        try {
            if (Newer.SET_ASYNCHRONOUS == null) {
                return false;
            }
            Newer.SET_ASYNCHRONOUS.invoke(message, true);
            return isAsynchronous(message);
        } catch (Exception e) {
            return false;
        }
    }
}
