package dev.tracegen.runtime;

/** The calls of a stretch of records. */
public final class CallTree {
    private final String stackKey = "";

    CallTree() {
    }

    /**
     * A hash of the IDs on the hot path.
     *
     * @return 16 hexadecimal digits
     */
    public String stackKey() {
        return stackKey;
    }
}
