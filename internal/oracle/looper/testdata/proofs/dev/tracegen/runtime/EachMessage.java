package dev.tracegen.runtime;

/** A history that has each message by itself, for proofs that look for short ones. */
public final class EachMessage {
    private EachMessage() {
    }

    public static RecorderOptions in(RecorderOptions options) {
        return options.history(10000, 0);
    }
}
