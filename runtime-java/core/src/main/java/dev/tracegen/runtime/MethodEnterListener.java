package dev.tracegen.runtime;

/**
 * Receives a call for every entry into an instrumented method, on every thread, recorded or not. It costs far more
 * than recording; it is meant for tests and experiments.
 */
public interface MethodEnterListener {
    /**
     * Called when a method was entered, on the thread that entered it. Methods that this call enters are not
     * reported. What it throws is dropped, and the first throw is logged.
     *
     * @param id the method's ID in the mapping
     * @param threadId {@link Thread#getId()}
     */
    void enter(int id, long threadId);
}
