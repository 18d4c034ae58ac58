package dev.tracegen.runtime;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the messages that wait in a thread's MessageQueue. */
public interface PendingQueue {
    /**
     * Returns the waiting messages in the order in which they will run. The recorder calls it on its own thread, when
     * a message has passed the slow threshold and still runs.
     *
     * @return the messages; an empty list if none waits; null if the queue cannot be read (Android 17 and newer)
     */
    @Nullable List<PendingMessage> snapshot(int max);
}
