package probes;

import android.app.Activity;
import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.view.View;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;

/** Posts messages in many ways, each of which gets a probe with trace-posts. */
public class Poster extends Activity implements Runnable {
    private final Handler handler = new Handler(Looper.getMainLooper());

    /** The focus hook goes into the superclass, and this calls it. */
    public static class Below extends Poster {
        @Override
        public void onWindowFocusChanged(boolean focus) {
            super.onWindowFocusChanged(focus);
        }
    }

    @Override
    public void run() {
        handler.post(this);
    }

    long post(View view, Executor executor, ExecutorService service, boolean twice) {
        long sent = 0;
        for (int i = 0; i < 3; i++) {
            handler.postDelayed(i == 1 ? this : () -> System.out.println(view), twice ? 10L * i : i);
            Message m = handler.obtainMessage(i, this);
            sent += handler.sendMessageDelayed(m, sent + i) ? 1 : 0;
        }
        try {
            view.post(this);
            view.postDelayed(this::run, sent);
            executor.execute(this);
            service.submit(() -> sent(view));
        } catch (IllegalStateException e) {
            runOnUiThread(() -> { throw e; });
        } finally {
            handler.sendEmptyMessage((int) sent);
        }
        return sent;
    }

    private static synchronized long sent(View view) {
        synchronized (view) {
            return view.getId() + (view.post(null) ? 1L : 2L);
        }
    }
}
