package dev.tracegen.runtime.android;

import android.util.Log;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs tasks on a thread of its own, one after the other in the order of the calls. The thread ends soon after the last
 * task. Everything that reads or writes files runs here, because an app may run with {@code StrictMode}, and a disk may
 * be slow.
 */
final class Background {
    private static final ThreadPoolExecutor THREAD = new ThreadPoolExecutor(1, 1, 10, TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<Runnable>(), new ThreadFactory() {
                @Override
                public Thread newThread(Runnable work) {
                    Thread thread = new Thread(work, "tracegen-setup");
                    thread.setDaemon(true);
                    return thread;
                }
            });

    static {
        THREAD.allowCoreThreadTimeOut(true);
    }

    private Background() {
    }

    /** Runs a task later, on the thread. What it throws is logged. */
    static void run(final Runnable task) {
        try {
            THREAD.execute(new Runnable() {
                @Override
                public void run() {
                    try {
                        task.run();
                    } catch (Throwable e) {
                        Log.w(TracegenRuntime.TAG, "cannot record", e);
                    }
                }
            });
        } catch (Throwable e) {
            // No memory for a thread.
            Log.w(TracegenRuntime.TAG, "cannot start a thread", e);
        }
    }
}
