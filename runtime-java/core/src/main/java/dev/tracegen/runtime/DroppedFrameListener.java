package dev.tracegen.runtime;

/** Receives a call for each time that frames were dropped. */
public interface DroppedFrameListener {
    /**
     * Called on the thread that calls {@link StallListener}, under the same conditions, if the detector {@code frames}
     * is on and the level is {@link DropLevel#NORMAL} or higher.
     *
     * @param frames the frames that were dropped; immutable, may be kept
     */
    void framesDropped(DroppedFrames frames);
}
