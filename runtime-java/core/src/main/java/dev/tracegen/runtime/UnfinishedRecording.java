package dev.tracegen.runtime;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.Map;
import java.util.TreeMap;

/**
 * A recording of an earlier process that was killed: it has no END chunk. How that process ended can be appended to it,
 * once. The file is locked until {@link #close}, and it is not opened if a living process writes it. Not safe for
 * concurrent use.
 */
public final class UnfinishedRecording implements Closeable {
    private final RandomAccessFile file;
    private final FileClaim claim;
    private final ChunkScan scan;
    private boolean appended;

    private UnfinishedRecording(RandomAccessFile file, FileClaim claim, ChunkScan scan) {
        this.file = file;
        this.claim = claim;
        this.scan = scan;
    }

    /**
     * Opens a recording and reads it to its end. Accesses the disk.
     *
     * @return null if the file is no recording, was closed, says already how its process ended, or is written by a
     *     living process. Otherwise it must be closed
     * @throws IOException if the file cannot be read or written
     */
    public static UnfinishedRecording open(File path) throws IOException {
        if (!path.isFile() || FileClaim.isOurs(path)) {
            // Opening a pipe blocks, opening a device may act on it, and closing a file ends the claim to it.
            return null;
        }
        UnfinishedRecording found = null;
        RandomAccessFile file = new RandomAccessFile(path, "rw");
        try {
            FileClaim claim = FileClaim.of(path, file.getChannel());
            try {
                ChunkScan scan = claim == null ? null : ChunkScan.of(file);
                if (scan != null && !scan.isClosed() && !scan.hasExit()) {
                    found = new UnfinishedRecording(file, claim, scan);
                }
            } finally {
                if (found == null && claim != null) {
                    claim.release();
                }
            }
        } finally {
            if (found == null) {
                file.close();
            }
        }
        return found;
    }

    /** Returns what the recording says of itself: the keys and values of its META chunk. */
    public Map<String, String> meta() {
        return scan.meta();
    }

    /**
     * Appends how the process ended, as an EXIT chunk (trace/FORMAT.md, chunk 18), behind the last whole chunk, and
     * waits until it is on the disk. A chunk that was cut is removed before. If this fails, the file is as whole as it
     * was. A second call has no effect.
     *
     * @param values keys such as {@code reason}, and their values
     * @param options whose redactor gets the description and the trace
     * @throws IOException if the file cannot be written
     */
    public void append(Map<String, String> values, RecorderOptions options) throws IOException {
        if (appended) {
            return;
        }
        appended = true;
        Texts texts = new Texts(options);
        ChunkBytes payload = new ChunkBytes();
        payload.uv(values.size());
        for (Map.Entry<String, String> e : new TreeMap<String, String>(values).entrySet()) {
            boolean free = e.getKey().equals("description") || e.getKey().equals("trace");
            payload.str(e.getKey()).str(free ? texts.exit(e.getValue()) : e.getValue());
        }
        ChunkBytes out = new ChunkBytes();
        ChunkFrames frames = new ChunkFrames();
        frames.chunk(out, RecordingWriter.EXIT, 0, (int) scan.nextNumber(), payload);
        frames.end();
        file.setLength(scan.end());
        try {
            // The bytes up to a multiple of 4 are zeros, because the file had ended before them.
            file.seek(scan.end() + 3 & ~3L);
            file.write(out.bytes, 0, out.size);
            file.getFD().sync();
        } catch (IOException e) {
            file.setLength(scan.end());
            throw e;
        }
    }

    /** Closes and unlocks the file. */
    @Override
    public void close() throws IOException {
        claim.release();
        file.close();
    }
}
