package dev.tracegen.runtime.android;

/**
 * Is told what a looper runs. All methods are called on the looper's thread. What they throw is caught, and logged the
 * first time. Listeners may be added and removed at any time, by any thread, also by a listener that is being called.
 */
public abstract class DispatchListener {
    /**
     * Whether the listener wants to hear now. Asked before each start; who was told a start is told its end, whatever
     * this says by then.
     *
     * @return true unless overridden
     */
    public boolean isValid() {
        return true;
    }

    /**
     * A message, or a handler of the idle queue, begins.
     *
     * @param dispatch what is known of it; the object is used again, so copy what is to be kept
     */
    public void dispatchStart(Dispatch dispatch) {
    }

    /**
     * What began last has ended, by itself or by a throw.
     *
     * @param dispatch what is known of it, which may be more than at its start
     */
    public void dispatchEnd(Dispatch dispatch) {
    }

    /** The queue has nothing to run, and its idle handlers are about to. */
    public void queueIdle() {
    }
}
