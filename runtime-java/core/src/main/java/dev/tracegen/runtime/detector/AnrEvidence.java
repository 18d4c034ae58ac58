package dev.tracegen.runtime.detector;

import org.jspecify.annotations.Nullable;

/** What the system says of an app that does not respond. */
public interface AnrEvidence {
    /**
     * Returns the system's statement that this process does not respond. Called on a thread of its own, as it may wait
     * for the system. It is only compared, because it may hold personal data.
     *
     * @return another one for another ANR; null if the process responds, or if that is unknown
     */
    @Nullable String state();
}
