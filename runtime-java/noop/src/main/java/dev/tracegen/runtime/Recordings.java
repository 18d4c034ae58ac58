package dev.tracegen.runtime;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** No recordings. */
public final class Recordings {
    private Recordings() {
    }

    /**
     * Reads nothing.
     *
     * @param directory ignored
     * @return an object without recordings
     */
    public static Recordings of(File directory) {
        return new Recordings();
    }

    /**
     * Reads nothing.
     *
     * @return an empty list
     */
    public List<File> finished() {
        return new ArrayList<File>();
    }

    /**
     * Deletes nothing.
     *
     * @param recording ignored
     * @return false
     */
    public boolean delivered(File recording) {
        return false;
    }

    /**
     * Returns nothing.
     *
     * @param recording ignored
     * @return empty
     */
    public Map<String, String> facts(File recording) {
        return Collections.emptyMap();
    }
}
