package dev.tracegen.runtime.android;

import android.os.Looper;
import dev.tracegen.runtime.PendingMessage;
import dev.tracegen.runtime.PendingQueue;
import java.util.List;

/** The waiting messages of a Looper, which the no-op never reads. */
public final class QueueSnapshot implements PendingQueue {
    private QueueSnapshot() {
    }

    /**
     * Reads no queue.
     *
     * @param looper ignored
     * @return null, which means not available
     */
    public static QueueSnapshot of(Looper looper) {
        return null;
    }

    @Override
    public List<PendingMessage> snapshot(int max) {
        return null;
    }
}
