package android.os;

/** A thread that does nothing: {@link Handler} has its own. */
public class HandlerThread extends Thread {
    public HandlerThread(String name) {
        super(name);
        setDaemon(true);
    }

    public HandlerThread(String name, int priority) {
        this(name);
    }

    public Looper getLooper() {
        return new Looper(this);
    }

    public boolean quit() {
        return true;
    }
}
