package dev.tracegen.runtime;

import java.io.File;
import java.io.IOException;

/**
 * Where a recording is written to. Only the writer's thread uses it.
 *
 * <ul>
 *   <li>A file, an empty file or an earlier recording: the names are those of {@link OutputFile}.
 *   <li>A directory: a file in it with the name of the process or of the main class, see {@link #nameOf}.
 *   <li>Everything else is refused: a file of another program, a device, a pipe, a symbolic link to nothing.
 * </ul>
 */
final class Output {
    /** How many names are tried if other processes write to all of them. */
    private static final int MAX_NAMES = 100;

    private final RecorderOptions options;
    private final Retention retention;
    private final Disk disk;

    /** Null while the path was not looked at. */
    private OutputFile files;

    /** Creates the description of an output. It touches no file. */
    Output(RecorderOptions options, Disk disk) {
        this.options = options;
        this.retention = new Retention(options);
        this.disk = disk;
    }

    /**
     * Refuses an output that cannot be written to, before there is anything to write. Deletes recordings that are too
     * old.
     *
     * @throws RefusedOutput if it is refused; the message says why and what to do
     * @throws IOException if that is not known yet
     */
    void check() throws IOException {
        find();
        files.check();
        files.deleteOld();
    }

    /** Finds out what the path names. */
    private void find() throws IOException {
        if (files != null) {
            return;
        }
        File path = options.output;
        if (path.isDirectory()) {
            path = new File(path, nameOf(options) + ".tgd");
        }
        // A symbolic link to a file stays where it is: its target has the name and the neighbours.
        files = new OutputFile(path.exists() ? path.getCanonicalFile() : path, retention, disk);
    }

    /**
     * Opens the file of a part.
     *
     * @param part its number, from 1; the parts before it are complete
     * @throws RefusedOutput if there is something that must not be written to
     * @throws IOException if it is not possible now
     */
    OpenFile open(int part) throws IOException {
        find();
        OutputFile first = files;
        for (int attempt = 1;; attempt++) {
            try {
                OpenFile open = part == 1 ? files.open() : files.next(part - 1);
                if (files != first) {
                    options.platform.log(first.file() + " is written by another process; this one is recorded into "
                            + files.file());
                }
                return open;
            } catch (OutputFile.InUse e) {
                if (attempt == MAX_NAMES) {
                    throw e;
                }
                files = first.ofProcess(attempt);
            }
        }
    }

    /** Returns the number of the first part that was not deleted, given that of the part that is written. */
    int firstPart(int current) {
        return files == null ? 1 : files.firstPart(current);
    }

    /** Returns the size at which a part is closed and the next one begun. */
    long fileBytes() {
        return retention.fileBytes();
    }

    /**
     * Returns the name of a recording in a directory: that of the process, or of the program's main class or jar, with
     * other characters than letters, digits, {@code . _ -} replaced; {@code app} if there is none.
     */
    static String nameOf(RecorderOptions options) {
        String name = options.meta.get("process");
        if (name == null) {
            name = Host.get().programName(options);
        }
        StringBuilder b = new StringBuilder();
        for (int k = 0; k < name.length(); k++) {
            char c = name.charAt(k);
            boolean plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
                    || c == '.' && b.length() > 0;
            b.append(plain ? c : '_');
        }
        return b.length() == 0 ? "app" : b.toString();
    }
}
