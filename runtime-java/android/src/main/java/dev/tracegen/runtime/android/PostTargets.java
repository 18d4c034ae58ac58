package dev.tracegen.runtime.android;

import android.app.Activity;
import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.view.View;
import dev.tracegen.runtime.PostedBy;

/** Recognises what messages are posted to. */
final class PostTargets implements PostedBy.Targets {
    @Override
    public boolean isHandler(Object target) {
        return target instanceof Handler;
    }

    @Override
    public boolean postsRunnables(Object target) {
        // On the main thread an Activity runs a Runnable at once, and posts nothing.
        return target instanceof Handler || target instanceof View
                || target instanceof Activity && Looper.myLooper() != Looper.getMainLooper();
    }

    @Override
    public boolean isMessage(Object posted) {
        return posted instanceof Message;
    }

    @Override
    public Object handlerOf(Object message) {
        return ((Message) message).getTarget();
    }

    @Override
    public Runnable callbackOf(Object message) {
        return ((Message) message).getCallback();
    }

    @Override
    public int whatOf(Object message) {
        return ((Message) message).what;
    }
}
