package android.os;

/** As much of it as Matrix's AppMethodBeat and LooperMonitor touch. */
public class Looper {
    /** Which thread is the main one. Set before anybody asks. */
    public static Thread main;

    // Read by reflection.
    private android.util.Printer mLogging;

    private final Thread thread;

    Looper(Thread thread) {
        this.thread = thread;
    }

    public static Looper getMainLooper() {
        return new Looper(main);
    }

    public static Looper myLooper() {
        return null;
    }

    public static MessageQueue myQueue() {
        return new MessageQueue();
    }

    public MessageQueue getQueue() {
        return new MessageQueue();
    }

    public Thread getThread() {
        return thread;
    }

    public void setMessageLogging(android.util.Printer printer) {
        mLogging = printer;
    }
}
