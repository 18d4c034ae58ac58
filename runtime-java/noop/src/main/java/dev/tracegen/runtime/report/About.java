package dev.tracegen.runtime.report;

import org.jspecify.annotations.Nullable;

/** The facts that all reports of a process have. The no-op keeps none. */
public final class About {
    /** Creates it. */
    public About() {
    }

    /**
     * Does nothing.
     *
     * @param key ignored
     * @param value ignored
     * @return this
     */
    public About set(String key, @Nullable Object value) {
        return this;
    }

    /**
     * Returns nothing.
     *
     * @param key ignored
     * @return null
     */
    public @Nullable Object get(String key) {
        return null;
    }
}
