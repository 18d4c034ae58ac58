package dev.tracegen.runtime;

import java.io.File;
import java.util.Collections;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads what Linux says of the process and the machine. The no-op reads nothing. */
public final class MachineFacts {
    /** Stands for the ID of the thread that the process began with. */
    public static final long FIRST_THREAD = 0;

    /**
     * Creates a reader.
     *
     * @param root ignored
     * @param disk ignored
     */
    public MachineFacts(File root, @Nullable File disk) {
    }

    /**
     * Reads nothing.
     *
     * @param threadId ignored
     * @param nanos ignored
     * @return an empty map
     */
    public Map<String, String> read(long threadId, long nanos) {
        return Collections.emptyMap();
    }

    /**
     * Returns no facts.
     *
     * @param before ignored
     * @param now ignored
     * @return an empty map
     */
    public static Map<String, String> between(@Nullable Map<String, String> before, Map<String, String> now) {
        return Collections.emptyMap();
    }
}
