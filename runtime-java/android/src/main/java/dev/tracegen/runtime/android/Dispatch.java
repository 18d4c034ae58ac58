package dev.tracegen.runtime.android;

import android.os.Message;

/**
 * One run of a message, or of an idle handler. There is one object a looper, which is valid during the call that it was
 * given to and used again for the next.
 *
 * <p>With a {@code Printer} all is known from the begin, by way of the text. With the {@code Observer} a message says
 * what it is only when it ends, and there is no text, which would cost every message two strings.
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

    /** The text of an idle handler's run. */
    static String idleText(Object handler) {
        return IDLE + handler.getClass().getName();
    }

    /**
     * What runs, in the looper's own words as its {@code Printer} is told at the begin, or {@code IdleHandler } and a
     * class.
     *
     * @return null with the {@code Observer}
     */
    public String text() {
        return text;
    }

    /**
     * Whether this is an idle handler and not a message.
     *
     * @return true for an idle handler
     */
    public boolean isIdleHandler() {
        return idleHandler;
    }

    /**
     * When it began.
     *
     * @return {@code System.nanoTime()}
     */
    public long beginNanos() {
        return beginNanos;
    }

    /**
     * When it ended.
     *
     * @return {@code System.nanoTime()}, 0 while it runs
     */
    public long endNanos() {
        return endNanos;
    }

    /**
     * The class of the message's handler.
     *
     * @return null if it is not known (yet), as of a handler whose {@code toString} is its own
     */
    public String handler() {
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
     * The class of the message's callback, or what the callback calls itself.
     *
     * @return null if it has none, or if it is not known (yet)
     */
    public String callback() {
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
     * {@code Message.what}.
     *
     * @return 0 if it is not known (yet)
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

    /** {@code Handler (CLASS) {HASH} CALLBACK: WHAT}, where CALLBACK and even the first part may be anything. */
    private String target() {
        return text == null || !text.startsWith(BEGIN) ? null : text.substring(BEGIN.length());
    }

    private static String classOf(Object o) {
        return o == null ? null : o.getClass().getName();
    }

    /** Takes the {@code @1a2b3c} off that {@code Object.toString} puts on. */
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
