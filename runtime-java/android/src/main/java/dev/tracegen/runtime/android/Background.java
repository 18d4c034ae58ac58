package dev.tracegen.runtime.android;

import android.util.Log;
import java.util.ArrayDeque;

/**
 * Runs tasks on a thread of its own, one after the other in the order of the calls. The thread ends when no task is
 * left. Everything that reads or writes files runs here, because an app may run with {@code StrictMode}, and a disk may
 * be slow.
 */
final class Background implements Runnable {
    private static final ArrayDeque<Runnable> TASKS = new ArrayDeque<Runnable>();

    /** Whether a thread takes tasks. Guarded by TASKS, as the tasks. */
    private static boolean running;

    private Background() {
    }

    /** Runs a task later, on the thread. What it throws is logged. */
    static void run(Runnable task) {
        synchronized (TASKS) {
            TASKS.add(task);
            if (running) {
                return;
            }
            running = true;
        }
        try {
            Thread thread = new Thread(new Background(), "tracegen-setup");
            thread.setDaemon(true);
            thread.start();
        } catch (Throwable e) {
            // No memory for a thread. The tasks that wait would wait for ever.
            synchronized (TASKS) {
                TASKS.clear();
                running = false;
            }
            Log.w(TracegenRuntime.TAG, "cannot start a thread", e);
        }
    }

    @Override
    public void run() {
        for (Runnable task = next(); task != null; task = next()) {
            try {
                task.run();
            } catch (Throwable e) {
                Log.w(TracegenRuntime.TAG, "cannot record", e);
            }
        }
    }

    private static Runnable next() {
        synchronized (TASKS) {
            Runnable task = TASKS.poll();
            running = task != null;
            return task;
        }
    }
}
