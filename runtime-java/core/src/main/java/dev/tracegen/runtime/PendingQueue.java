package dev.tracegen.runtime;

import java.util.List;

/** Sees what waits in a thread's message queue. */
public interface PendingQueue {
    /**
     * What waits now, the next one first. Called on the recorder's own thread, when a message has passed the
     * threshold and still runs.
     *
     * @param max how many are wanted at most
     * @return the messages; an empty list only if nothing waits; null if the queue cannot be looked into
     *     (Android 17 and newer), so that <i>not available</i> is never taken for <i>empty</i>
     */
    List<PendingMessage> snapshot(int max);
}
