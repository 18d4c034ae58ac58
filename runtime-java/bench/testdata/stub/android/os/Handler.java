package android.os;

/** Runs what is posted on a thread of its own, as late as asked: Matrix's clock must run. */
public class Handler {
    /** As Android has it. */
    public interface Callback {
        boolean handleMessage(Message message);
    }

    // Set by reflection.
    Callback mCallback;

    private volatile int removed;

    public Handler() {
    }

    public Handler(Looper looper) {
    }

    public Handler(Looper looper, Callback callback) {
    }

    public final boolean post(Runnable work) {
        return postDelayed(work, 0);
    }

    public final boolean postDelayed(final Runnable work, final long millis) {
        final int round = removed;
        Thread t = new Thread("handler") {
            @Override
            public void run() {
                SystemClock.sleep(millis);
                if (round == removed) {
                    work.run();
                }
            }
        };
        t.setDaemon(true);
        t.start();
        return true;
    }

    public final void removeCallbacks(Runnable work) {
    }

    public final void removeCallbacksAndMessages(Object token) {
        removed++;
    }
}
