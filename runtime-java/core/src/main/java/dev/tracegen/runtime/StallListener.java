package dev.tracegen.runtime;

/** Is told of every message that took longer than {@link RecorderOptions#slowMillis(int)} allows. */
public interface StallListener {
    /**
     * A slow message has ended and has been looked at. Called on the recorder's own thread, some time after it ended.
     * What this throws is logged and dropped.
     *
     * @param message what is known of it; immutable, may be kept
     */
    void stallEnded(Stall stall);
}
