package dev.tracegen.runtime;

/**
 * Is told of every entry into an instrumented method, of every thread, recorded or not. Costs far more than
 * recording does; for tests and experiments.
 */
public interface MethodEnterListener {
    /**
     * A method was entered. Called on the thread that entered it. What this calls itself is not reported again, and
     * what it throws is dropped.
     *
     * @param id the method's ID in the mapping
     * @param threadId {@link Thread#getId()}
     */
    void enter(int id, long threadId);
}
