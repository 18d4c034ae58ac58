package dev.tracegen.runtime;

import java.io.Closeable;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;

/**
 * A file that is open for a part of a recording. What is appended to it is there as a whole or not at all: if a write
 * fails in the middle, for lack of space, the file is cut to what was there before. If even that fails, a half chunk
 * remains, and a reader goes on at the next chunk.
 */
final class OpenFile implements Closeable {
    private final Disk disk;
    private final File file;
    private final FileOutputStream stream;
    private final FileClaim claim;
    private long size;
    private boolean torn;

    /** Creates the description of an open file. */
    OpenFile(Disk disk, File file, FileOutputStream stream, FileClaim claim) {
        this.disk = disk;
        this.file = file;
        this.stream = stream;
        this.claim = claim;
    }

    /** Appends bytes. If it fails, none of them count as written. */
    void append(ChunkBytes bytes) throws IOException {
        if (torn) {
            cut();
        }
        try {
            disk.write(stream, bytes.bytes, bytes.size);
            size += bytes.size;
        } catch (IOException e) {
            cut();
            throw e;
        }
    }

    private void cut() {
        try {
            disk.truncate(stream, size);
            torn = false;
        } catch (IOException e) {
            torn = true;
        }
    }

    /** Returns how many bytes were written. */
    long size() {
        return size;
    }

    void sync() throws IOException {
        disk.sync(stream);
    }

    /** Removes a file to which nothing could be written: a file that is no recording must not remain. */
    void discard() {
        // A file whose begin is cut off is refused by readers, so it is emptied in case that it cannot be deleted.
        cut();
        closeQuietly();
        if (file.length() == 0) {
            // If that fails, an empty file remains, and is written to when it is tried again.
            boolean deleted = file.delete();
        }
    }

    void closeQuietly() {
        try {
            close();
        } catch (IOException e) {
            // What was written before is in the file.
        }
    }

    @Override
    public void close() throws IOException {
        try {
            stream.close();
        } finally {
            claim.release();
        }
    }
}
