package dev.tracegen.runtime;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The right to write a file, which one recorder of one process has at a time, or to send the reports of a directory.
 * Other processes see it as a lock of the system, which ends with its process however that ends. Where the system has
 * no locks (some network file systems), all claims succeed.
 *
 * <p>A POSIX lock ends when its process closes <em>any</em> descriptor of the file. So this class knows the files of
 * this process by their paths, and code that only wants to read the begin of a file asks {@link #isOurs} first.
 */
public final class FileClaim {
    /** A byte that no recording reaches. On Windows no other process can read bytes that are locked. */
    private static final long LOCKED_BYTE = 1L << 40;

    /** The canonical paths of the files that this process writes. */
    private static final Set<String> OURS = new HashSet<String>();

    private final String path;

    /** What is to be closed when the claim ends. */
    private final List<Closeable> owned = new ArrayList<Closeable>();

    private FileClaim(String path) {
        this.path = path;
    }

    /**
     * Claims a file by a stream that is open for it.
     *
     * @return null if another process, or another recorder of this one, has it
     */
    static FileClaim of(File file, FileChannel channel) {
        String path = path(file);
        synchronized (OURS) {
            try {
                if (OURS.contains(path) || !lock(channel)) {
                    return null;
                }
            } catch (OverlappingFileLockException e) {
                // A copy of this class in another class loader has it.
                return null;
            }
            OURS.add(path);
        }
        return new FileClaim(path);
    }

    /**
     * Claims a file. It is created if it does not exist.
     *
     * @return as above. A file that must not be written to cannot be locked, and is not written by others either
     * @throws IOException if the file cannot be closed
     */
    public static @Nullable FileClaim of(File file) throws IOException {
        // No other thread may claim it meanwhile: closing the stream here would end that claim.
        synchronized (OURS) {
            if (isOurs(file)) {
                return null;
            }
            RandomAccessFile open;
            try {
                open = new RandomAccessFile(file, "rw");
            } catch (IOException e) {
                return new FileClaim(path(file));
            }
            FileClaim claim = of(file, open.getChannel());
            if (claim == null) {
                open.close();
            } else {
                claim.owned.add(open);
            }
            return claim;
        }
    }

    /** Locks a file. Returns false if another process has locked it, true also where there are no locks. */
    private static boolean lock(FileChannel channel) {
        try {
            return channel.tryLock(LOCKED_BYTE, 1, false) != null;
        } catch (IOException e) {
            return true;
        }
    }

    /** Reports whether this process writes a file. */
    static boolean isOurs(File file) {
        String path = path(file);
        synchronized (OURS) {
            return OURS.contains(path);
        }
    }

    /** Reports whether any living process writes a file. A file that cannot be opened is not written. */
    static boolean isWritten(File file) {
        if (isOurs(file)) {
            return true;
        }
        try (RandomAccessFile open = new RandomAccessFile(file, "r")) {
            // A shared lock is possible on a file that is open for reading only. Closing it ends the lock.
            return open.getChannel().tryLock(LOCKED_BYTE, 1, true) == null;
        } catch (OverlappingFileLockException e) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Reports whether the file at a path is still the one that was claimed. Another process may have renamed that one,
     * and made a file of its own, between opening it here and locking it.
     */
    boolean isStillAt(File file) {
        RandomAccessFile again;
        try {
            again = new RandomAccessFile(file, "rw");
        } catch (IOException e) {
            return true;
        }
        // Closing it would end the lock. It is closed when the claim ends.
        owned.add(again);
        try {
            // A process can lock its own file again, where the JVM does not find that out.
            return lock(again.getChannel());
        } catch (OverlappingFileLockException e) {
            return true;
        }
    }

    /** Ends the claim. The stream that it was made with, if any, is to be closed too. */
    public void release() {
        synchronized (OURS) {
            OURS.remove(path);
        }
        for (Closeable c : owned) {
            try {
                c.close();
            } catch (IOException e) {
                // The system ends the lock with the process.
            }
        }
    }

    private static String path(File file) {
        try {
            return file.getCanonicalPath();
        } catch (IOException e) {
            return file.getAbsolutePath();
        }
    }
}
