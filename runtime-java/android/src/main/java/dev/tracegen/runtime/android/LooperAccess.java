package dev.tracegen.runtime.android;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.SystemClock;
import dev.tracegen.runtime.Platform;
import dev.tracegen.runtime.ThreadTrace;
import dev.tracegen.runtime.detector.LoopAccess;

/**
 * A Looper of Android. Messages are posted by public API. The head of the queue is read, and barriers are removed, by
 * hidden members, where Android and the option {@code hidden-api} allow that.
 */
final class LooperAccess extends LoopAccess {
    private final Looper looper;
    private final ThreadTrace trace;
    private final Platform platform;
    private final Handler handler;

    /** Null if the head of the queue cannot be read. */
    private final MessageQueue queue;

    /**
     * Creates an access. Posts a message and removes it again, to find out whether the queue can be read.
     *
     * @param trace the trace of the Looper's thread
     * @param platform the clock
     * @param hiddenApi whether hidden members may be used
     */
    LooperAccess(Looper looper, ThreadTrace trace, Platform platform, boolean hiddenApi) {
        this.looper = looper;
        this.trace = trace;
        this.platform = platform;
        this.handler = new Handler(looper);
        boolean readable = hiddenApi && QueueSnapshot.of(looper) != null;
        this.queue = readable ? LooperInternals.queue(looper, true) : null;
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
    public boolean canSeeQueue() {
        return queue != null;
    }

    @Override
    public Barrier barrier() {
        if (queue == null) {
            return null;
        }
        try {
            synchronized (queue) {
                Message m = LooperInternals.first(queue);
                if (m == null || m.getTarget() != null) {
                    return null;
                }
                // The two clocks are the same on devices. Elsewhere they may have different bases.
                long age = SystemClock.uptimeMillis() - m.getWhen();
                return new Barrier(m.arg1, platform.nanoTime() - age * 1000000L);
            }
        } catch (Exception e) {
            return null;
        }
    }

    @Override
    public boolean removeBarrier(int token) {
        return queue != null && LooperInternals.removeSyncBarrier(queue, token);
    }

    @Override
    public long runningSince() {
        return trace.runningSince();
    }
}
