package dev.tracegen.runtime;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.util.Collections;
import java.util.Map;

/** A recording of an earlier process. There is none. */
public final class UnfinishedRecording implements Closeable {
    private UnfinishedRecording() {
    }

    /**
     * Opens nothing.
     *
     * @param path ignored
     * @return null
     * @throws IOException never
     */
    public static UnfinishedRecording open(File path) throws IOException {
        return null;
    }

    /**
     * Returns what the recording says of itself.
     *
     * @return an empty map
     */
    public Map<String, String> meta() {
        return Collections.emptyMap();
    }

    /**
     * Does nothing.
     *
     * @param values ignored
     * @param options ignored
     * @throws IOException never
     */
    public void append(Map<String, String> values, RecorderOptions options) throws IOException {
    }

    @Override
    public void close() throws IOException {
    }
}
