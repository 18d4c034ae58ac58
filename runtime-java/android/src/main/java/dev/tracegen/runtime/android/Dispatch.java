package dev.tracegen.runtime.android;

import android.os.Message;
import org.jspecify.annotations.Nullable;

/**
 * One run of a message or an IdleHandler. Each LooperMonitor has one object, which is valid during the call that it
 * is passed to and is reused for the next run.
 *
 * <p>With a {@code Printer} the text describes the message from the begin. With the {@code Observer} there is no
 * text, and the message is known only at its end; the text would cost two strings for every message.
 */
public final class Dispatch {
    private static final String BEGIN = ">>>>> Dispatching to ";
    private static final String HANDLER = "Handler (";
    private static final String IDLE = "IdleHandler ";

    private String text;
    private Message message;
    private boolean idleHandler;
    private long beginNanos;
    private long endNanos;

    Dispatch() {
    }

    void begin(String text, boolean idleHandler, long nanos) {
        this.text = text;
        this.message = null;
        this.idleHandler = idleHandler;
        this.beginNanos = nanos;
        this.endNanos = 0;
    }

    void end(Message message, long nanos) {
        this.message = message;
        this.endNanos = nanos;
    }

    void clear() {
        text = null;
        message = null;
    }

    /** Returns the message; null before its end, and with the {@code Printer}. */
    Message message() {
        return message;
    }

    /** Returns the text for a run of an IdleHandler. */
    static String idleText(Object handler) {
        return IDLE + handler.getClass().getName();
    }

    /**
     * Returns the text that the Looper passes to its {@code Printer} at the begin, or {@code IdleHandler } and a class.
     *
     * @return null with the {@code Observer}
     */
    public @Nullable String text() {
        return text;
    }

    /**
     * Reports whether an IdleHandler runs, and not a message.
     *
     * @return true for an IdleHandler
     */
    public boolean isIdleHandler() {
        return idleHandler;
    }

    /**
     * Returns when it began.
     *
     * @return {@code System.nanoTime()}
     */
    public long beginNanos() {
        return beginNanos;
    }

    /**
     * Returns when it ended.
     *
     * @return {@code System.nanoTime()}, 0 while it runs
     */
    public long endNanos() {
        return endNanos;
    }

    /**
     * Returns the class of the message's Handler.
     *
     * @return null if it is unknown, as it is at the begin with the {@code Observer}, and with the {@code Printer} if
     *     the Handler overrides {@code toString}
     */
    public @Nullable String handler() {
        if (message != null) {
            return classOf(message.getTarget());
        }
        String t = target();
        if (t == null || !t.startsWith(HANDLER)) {
            return null;
        }
        int end = t.indexOf(')');
        return end < 0 ? null : t.substring(HANDLER.length(), end);
    }

    /**
     * Returns the class of the message's callback, or the result of the callback's {@code toString}.
     *
     * @return null if it has none or if it is unknown
     */
    public @Nullable String callback() {
        if (message != null) {
            return classOf(message.getCallback());
        }
        String t = target();
        int begin = t == null ? -1 : t.indexOf("} ");
        int end = t == null ? -1 : t.lastIndexOf(": ");
        if (begin < 0 || end < begin + 2) {
            return null;
        }
        String callback = t.substring(begin + 2, end);
        return callback.equals("null") ? null : withoutHash(callback);
    }

    /**
     * Returns {@code Message.what}.
     *
     * @return 0 if it is unknown
     */
    public int what() {
        if (message != null) {
            return message.what;
        }
        String t = target();
        int at = t == null ? -1 : t.lastIndexOf(": ");
        try {
            return at < 0 ? 0 : Integer.parseInt(t.substring(at + 2));
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** Returns {@code Handler (CLASS) {HASH} CALLBACK: WHAT}. CALLBACK and the text before it may be any text. */
    private String target() {
        return text == null || !text.startsWith(BEGIN) ? null : text.substring(BEGIN.length());
    }

    private static String classOf(Object o) {
        return o == null ? null : o.getClass().getName();
    }

    /** Removes the {@code @1a2b3c} that {@code Object.toString} appends. */
    private static String withoutHash(String s) {
        int at = s.lastIndexOf('@');
        for (int k = at + 1; k < s.length() && at >= 0; k++) {
            if (Character.digit(s.charAt(k), 16) < 0) {
                return s;
            }
        }
        return at <= 0 ? s : s.substring(0, at);
    }
}
