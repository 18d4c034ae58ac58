package dev.tracegen.runtime;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * The recordings in a directory, for an app that uploads them:
 *
 * <pre>
 *   Recordings recordings = Recordings.of(directory);
 *   for (File f : recordings.finished()) {
 *       if (upload(f)) {
 *           recordings.delivered(f);
 *       }
 *   }
 * </pre>
 *
 * <p>All methods read the disk, so they must not be called on the main thread. They never throw. An app should not open
 * other recordings than {@link #finished} returns: closing a file that this process writes ends its lock, and another
 * process may then take it for finished.
 */
public final class Recordings {
    private final File directory;

    private Recordings(File directory) {
        this.directory = directory;
    }

    /**
     * Returns the recordings of a directory.
     *
     * @param directory the directory that the recorder writes to; it need not exist
     */
    public static Recordings of(File directory) {
        return new Recordings(directory);
    }

    /**
     * Returns the files that no process writes any more: of runs that have ended, however they ended, and the closed
     * parts of a recording that goes on. Where the system has no file locks, files that other living processes write
     * are among them.
     *
     * @return recordings, regular files that begin with {@code TGD1}, the oldest first; empty if there are none or the
     *     directory cannot be read
     */
    public List<File> finished() {
        List<File> all = new ArrayList<File>();
        File[] files = directory.listFiles();
        for (File f : files == null ? new File[0] : files) {
            if (OutputFile.isRecording(f) && !FileClaim.isWritten(f)) {
                all.add(f);
            }
        }
        try {
            Collections.sort(all, OutputFile.OLDEST_TIME_FIRST);
        } catch (IllegalArgumentException e) {
            // A file was written while its time was compared. The order is of no importance then.
        }
        return all;
    }

    /**
     * Returns what a finished recording says of itself: the keys and values of its META chunk, trace/FORMAT.md. It
     * reads the whole file.
     *
     * @param recording a file that {@link #finished} has returned
     * @return empty if it is no finished recording or cannot be read
     */
    public Map<String, String> facts(File recording) {
        if (!OutputFile.isRecording(recording) || FileClaim.isWritten(recording)) {
            return Collections.emptyMap();
        }
        try (RandomAccessFile in = new RandomAccessFile(recording, "r")) {
            ChunkScan scan = ChunkScan.of(in);
            return scan == null ? Collections.<String, String>emptyMap() : scan.meta();
        } catch (IOException e) {
            return Collections.emptyMap();
        }
    }

    /**
     * Deletes a recording that was delivered, so that its space is free for others.
     *
     * @param recording a file that {@link #finished} has returned
     * @return false if it is no finished recording of this directory, or cannot be deleted; then it remains
     */
    public boolean delivered(File recording) {
        return directory.getAbsoluteFile().equals(recording.getAbsoluteFile().getParentFile())
                && OutputFile.isRecording(recording) && !FileClaim.isWritten(recording) && recording.delete();
    }
}
