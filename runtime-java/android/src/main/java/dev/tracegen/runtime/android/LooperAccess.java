package dev.tracegen.runtime.android;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import dev.tracegen.runtime.ThreadTrace;
import dev.tracegen.runtime.detector.LoopAccess;

/** A Looper of Android. Messages are posted by public API. */
final class LooperAccess extends LoopAccess {
    private final Looper looper;
    private final ThreadTrace trace;
    private final Handler handler;

    /** Creates an access. */
    LooperAccess(Looper looper, ThreadTrace trace) {
        this.looper = looper;
        this.trace = trace;
        this.handler = new Handler(looper);
    }

    @Override
    public ThreadTrace trace() {
        return trace;
    }

    @Override
    public Thread thread() {
        return looper.getThread();
    }

    @Override
    public boolean post(Runnable work, boolean asynchronous) {
        Message m = Message.obtain(handler, work);
        if (asynchronous && !LooperInternals.setAsynchronous(m)) {
            m.recycle();
            return false;
        }
        return handler.sendMessage(m);
    }

    @Override
    public void remove(Runnable work) {
        handler.removeCallbacks(work);
    }

    @Override
    public long runningSince() {
        return trace.runningSince();
    }
}
