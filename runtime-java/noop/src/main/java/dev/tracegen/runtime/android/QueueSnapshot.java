package dev.tracegen.runtime.android;

import android.os.Looper;
import dev.tracegen.runtime.PendingMessage;
import dev.tracegen.runtime.PendingQueue;
import java.util.List;

/** What waits in a looper's queue. Here: not available. */
public final class QueueSnapshot implements PendingQueue {
    private QueueSnapshot() {
    }

    /**
     * Sees no queue.
     *
     * @param looper ignored
     * @return null: not available
     */
    public static QueueSnapshot of(Looper looper) {
        return null;
    }

    @Override
    public List<PendingMessage> snapshot(int max) {
        return null;
    }
}
