package dev.tracegen.runtime;

import java.util.Collections;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A recorder that records nothing. */
public final class Recorder {
    private static volatile Recorder current;

    private Recorder() {
    }

    /**
     * Starts nothing.
     *
     * @param options ignored
     * @return a recorder that does nothing
     */
    public static synchronized Recorder start(RecorderOptions options) {
        if (current == null) {
            current = new Recorder();
        }
        return current;
    }

    /**
     * Returns the recorder that {@link #start} has returned.
     *
     * @return null if it was not called yet
     */
    public static @Nullable Recorder current() {
        return current;
    }

    /** Does nothing. */
    public static void disable() {
    }

    /** Does nothing. */
    public void stop() {
    }

    /**
     * Returns a trace that does nothing.
     *
     * @param thread the thread
     * @return a new object for every call
     */
    public ThreadTrace thread(Thread thread) {
        return new ThreadTrace(thread.getName());
    }

    /**
     * Does nothing.
     *
     * @param listener ignored
     */
    public static void setMethodEnterListener(@Nullable MethodEnterListener listener) {
    }

    /**
     * Does nothing.
     *
     * @param listener ignored
     */
    public static void setStallListener(@Nullable StallListener listener) {
    }

    /**
     * Does nothing.
     *
     * @param listener ignored
     */
    public static void setFocusListener(@Nullable FocusListener listener) {
    }

    /**
     * Does nothing.
     *
     * @param listener ignored
     */
    public static void setIncidentListener(@Nullable IncidentListener listener) {
    }

    /**
     * Does nothing.
     *
     * @param stalls ignored
     * @param incidents ignored
     */
    public static void setReporter(@Nullable StallListener stalls, @Nullable IncidentListener incidents) {
    }

    /**
     * Returns the ID of no recording.
     *
     * @return 16 zeros
     */
    public String recordingId() {
        return "0000000000000000";
    }

    /**
     * Returns a builder that reports nothing.
     *
     * @param detector ignored
     * @param kind ignored
     * @return a new object for every call
     */
    public Incident.Builder incident(String detector, String kind) {
        return new Incident.Builder();
    }

    /**
     * Does nothing.
     *
     * @param states ignored
     */
    public void detectorStates(Map<String, String> states) {
    }

    /**
     * Returns no states.
     *
     * @return empty
     */
    public Map<String, String> detectorStates() {
        return Collections.emptyMap();
    }

    /**
     * Returns a platform that logs nothing.
     *
     * @return never null
     */
    public Platform platform() {
        return new Platform() {
            @Override
            public @Nullable Thread mainThread() {
                return null;
            }

            @Override
            public void log(String line) {
            }
        };
    }

    /**
     * Does nothing.
     *
     * @param listener ignored
     */
    public static void setOwnFocusListener(@Nullable FocusListener listener) {
    }

    /**
     * Does nothing.
     *
     * @param listener ignored
     */
    public static void setDroppedFrameListener(@Nullable DroppedFrameListener listener) {
    }

    /**
     * Does nothing.
     *
     * @param frames ignored
     */
    public void framesDropped(DroppedFrames frames) {
    }

    /**
     * Returns no time.
     *
     * @return 0
     */
    public long firstNanos() {
        return 0;
    }

    /**
     * Returns no scene.
     *
     * @return null
     */
    public @Nullable String scene() {
        return null;
    }

    /**
     * Returns no state.
     *
     * @return false
     */
    public boolean foreground() {
        return false;
    }

    /**
     * Does nothing.
     *
     * @param ids ignored
     * @param mappingDigest ignored
     * @return true
     */
    public static boolean setGate(int[] ids, String mappingDigest) {
        return true;
    }

    /**
     * Does nothing.
     *
     * @param name ignored
     */
    public void scene(@Nullable String name) {
    }

    /**
     * Does nothing.
     *
     * @param value ignored
     */
    public void foreground(boolean value) {
    }

    /**
     * Returns the slow threshold of messages, which has no effect.
     *
     * @return 0
     */
    public int slowMillis() {
        return 0;
    }
}
