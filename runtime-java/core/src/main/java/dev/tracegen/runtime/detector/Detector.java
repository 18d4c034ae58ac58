package dev.tracegen.runtime.detector;

import org.jspecify.annotations.Nullable;

/**
 * Looks for one kind of trouble. All methods are called on the thread of the {@link Schedule}, except methods that a
 * subclass lets the Looper call.
 */
public abstract class Detector {
    private final String name;

    /**
     * Creates a detector that is off.
     *
     * @param name the name in the configuration and in reports: a word with hyphens
     */
    protected Detector(String name) {
        this.name = name;
    }

    /** Returns the name. */
    public final String name() {
        return name;
    }

    /**
     * Returns why the detector cannot work here.
     *
     * @return null if it can; otherwise a short reason, such as "needs API 24"
     */
    public @Nullable String unavailable() {
        return null;
    }

    /** Begins to look. What it throws switches the detector off. */
    protected abstract void start(Environment environment);

    /** Ends looking, and restores all that {@link #start} has changed. */
    protected abstract void stop();
}
