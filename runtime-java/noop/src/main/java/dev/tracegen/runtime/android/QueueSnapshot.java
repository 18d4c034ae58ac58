package dev.tracegen.runtime.android;

import android.os.Looper;
import dev.tracegen.runtime.PendingMessage;
import dev.tracegen.runtime.PendingQueue;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
    public static @Nullable QueueSnapshot of(Looper looper) {
        return null;
    }

    @Override
    public @Nullable List<PendingMessage> snapshot(int max) {
        return null;
    }
}
