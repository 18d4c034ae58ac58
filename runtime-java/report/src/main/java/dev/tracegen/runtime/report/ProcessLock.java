package dev.tracegen.runtime.report;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.util.HashSet;
import java.util.Set;

/**
 * A right that one thread of one process has at a time. The system ends it with the process, however that ends. Where
 * the system has no file locks, every process gets it: then a report may be sent twice, and the collector drops the
 * second one by its ID.
 */
final class ProcessLock {
    /** The files that this process has locked. To close any other stream of such a file would end the lock. */
    private static final Set<String> OURS = new HashSet<String>();

    private final String path;
    private final RandomAccessFile file;

    private ProcessLock(String path, RandomAccessFile file) {
        this.path = path;
        this.file = file;
    }

    /**
     * Takes the lock if it is free, and does not wait for another process.
     *
     * @return null if it is not free
     */
    static ProcessLock of(File file) {
        String path = file.getAbsolutePath();
        synchronized (OURS) {
            if (!OURS.add(path)) {
                return null;
            }
        }
        RandomAccessFile open = null;
        boolean taken = false;
        try {
            open = new RandomAccessFile(file, "rw");
            taken = locked(open);
        } catch (OverlappingFileLockException e) {
            // A copy of this class in another class loader has it.
        } catch (IOException e) {
            // The directory may be gone. There is nothing to send then.
        }
        ProcessLock lock = new ProcessLock(path, open);
        if (!taken) {
            lock.release();
            return null;
        }
        return lock;
    }

    private static boolean locked(RandomAccessFile file) {
        try {
            FileLock lock = file.getChannel().tryLock();
            return lock != null;
        } catch (IOException e) {
            return true;
        }
    }

    void release() {
        try {
            if (file != null) {
                file.close();
            }
        } catch (IOException e) {
            // The system ends the lock with the process.
        }
        synchronized (OURS) {
            OURS.remove(path);
        }
    }
}
