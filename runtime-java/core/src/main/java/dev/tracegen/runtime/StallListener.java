package dev.tracegen.runtime;

/** Receives a call for every stall: a message that lasted at least {@link RecorderOptions#slowMillis(int)}. */
public interface StallListener {
    /**
     * Called when a stall has ended and its facts are complete, some time after the end, on a thread that does nothing
     * else. It may wait, read and write, and call any method of the recorder, also {@link Recorder#stop}. If it takes
     * long, later stalls wait, and stalls without room are not delivered. An exception of it is logged once and
     * dropped. The last stalls of a recorder that was stopped may be delivered while the next one delivers its first.
     *
     * @param stall the stall; immutable, may be kept
     */
    void stallEnded(Stall stall);
}
