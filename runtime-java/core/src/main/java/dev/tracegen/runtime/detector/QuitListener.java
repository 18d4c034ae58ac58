package dev.tracegen.runtime.detector;

/** Is called when the process has got SIGQUIT. */
public interface QuitListener {
    /**
     * Is called on a thread of the runtime's own.
     *
     * @param nanos when the signal came, in {@link dev.tracegen.runtime.Platform#nanoTime}
     * @return true if the listener reports the incident {@code sigquit} itself
     */
    boolean quitSignal(long nanos);
}
