package dev.tracegen.runtime;

import org.jspecify.annotations.Nullable;

/**
 * Removes personal data from texts before they are written into a recording or delivered to a {@link StallListener}.
 * It is called on threads of the recorder, on several at once, and never while a message is timed. A result may be kept
 * and used again for the same text.
 */
public interface TextRedactor {
    /** The text of a message, after it was shortened to classes and {@code what}. */
    String MESSAGE = "message";

    /** The scene, see {@link Recorder#scene}. */
    String SCENE = "scene";

    /** The name of a thread. */
    String THREAD = "thread";

    /** The name of the thread that holds a lock, and the class of the lock. */
    String LOCK_OWNER = "lock-owner";

    /** The program of a JVM without its arguments, or its command line. */
    String COMMAND = "command";

    /** A text of a detector: the name of a slow class or method, or a fact of an {@link Incident}. */
    String INCIDENT = "incident";

    /** What the system says of the end of an earlier process: its description, or the trace of an ANR. */
    String EXIT = "exit";

    /**
     * Returns the text that is written instead of a text.
     *
     * @param kind one of the constants above, or another one in a later version
     * @param text the text, not null
     * @return the text to be written; null for an empty one. If this method throws, {@code (redacted)} is written
     */
    @Nullable String redact(String kind, String text);
}
