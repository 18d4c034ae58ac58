package app;

import android.app.Activity;
import android.os.Handler;
import android.os.Message;
import android.os.SystemClock;
import android.view.View;
import java.util.concurrent.Executor;

/** Methods that post messages, each in its own way. */
public final class Posts {
    public void post(Handler h, Runnable r) {
        h.post(r);
    }

    public void postDelayed(Handler h, Runnable r) {
        h.postDelayed(r, 20);
    }

    public void postAtTime(Handler h, Runnable r) {
        h.postAtTime(r, SystemClock.uptimeMillis() + 10);
    }

    public void postAtFront(Handler h, Runnable r) {
        h.postAtFrontOfQueue(r);
    }

    public void sendMessage(Handler h, int what) {
        h.sendMessage(h.obtainMessage(what));
    }

    public void sendMessageDelayed(Handler h, int what) {
        h.sendMessageDelayed(h.obtainMessage(what), 20);
    }

    public void sendMessageAtFront(Handler h, int what) {
        h.sendMessageAtFrontOfQueue(h.obtainMessage(what));
    }

    public void sendEmptyMessage(Handler h, int what) {
        h.sendEmptyMessage(what);
    }

    public void sendEmptyMessageDelayed(Handler h, int what) {
        h.sendEmptyMessageDelayed(what, 20);
    }

    public void sendToTarget(Handler h, int what) {
        h.obtainMessage(what).sendToTarget();
    }

    public void sendCallback(Handler h, Runnable r) {
        h.sendMessage(Message.obtain(h, r));
    }

    public void execute(Executor e, Runnable r) {
        e.execute(r);
    }

    public void viewPost(View v, Runnable r) {
        v.post(r);
    }

    public void viewPostDelayed(View v, Runnable r) {
        v.postDelayed(r, 20);
    }

    public void runOnUiThread(Activity a, Runnable r) {
        a.runOnUiThread(r);
    }
}
