package dev.tracegen.runtime;

/** Receives a call for every stall: a message that lasted at least {@link RecorderOptions#slowMillis(int)}. */
public interface StallListener {
    /**
     * Called when a stall has ended and its facts are complete, on the recorder's thread, some time after the end.
     * What it throws is logged once and dropped.
     *
     * @param stall the stall; immutable, may be kept
     */
    void stallEnded(Stall stall);
}
