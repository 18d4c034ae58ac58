package dev.tracegen.runtime.android;

/**
 * Receives calls for what a Looper runs. All methods are called on the Looper's thread. What they throw is caught,
 * and logged the first time. Listeners may be added and removed at any time on any thread, also by a listener that is
 * being called.
 */
public abstract class DispatchListener {
    /**
     * Called when a message or an IdleHandler begins.
     *
     * @param dispatch facts about it; the object is reused, so copy the values to keep
     */
    public void dispatchStart(Dispatch dispatch) {
    }

    /**
     * Called when the message or IdleHandler has ended, also by a throw.
     *
     * @param dispatch facts about it, which may be more than at its start
     */
    public void dispatchEnd(Dispatch dispatch) {
    }

    /** Called when the queue is idle, before its IdleHandlers run. */
    public void queueIdle() {
    }
}
