package dev.tracegen.runtime;

import java.util.List;

/** Reads the messages that wait in a thread's MessageQueue. */
public interface PendingQueue {
    /**
     * Returns the waiting messages in the order in which they will run. The recorder calls it on its own thread, when
     * a message has passed the slow threshold and still runs.
     *
     * @param max the greatest number of messages to return
     * @return the messages; an empty list if none waits; null if the queue cannot be read (Android 17 and newer)
     */
    List<PendingMessage> snapshot(int max);
}
