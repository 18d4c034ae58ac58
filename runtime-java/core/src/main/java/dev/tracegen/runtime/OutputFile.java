package dev.tracegen.runtime;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Opens the file that a recording is written to. Only recordings, which are regular files that begin with
 * {@code TGD1}, are renamed or deleted for it. Everything else at the output's path is refused: a directory, a device,
 * a file of another program. The path is often typed by hand, and the recorder may run as root.
 *
 * <p>{@code java.nio.file} would be the better API, but old Android versions do not have it.
 */
final class OutputFile {
    /** The first bytes of a recording. */
    private static final byte[] MAGIC = {'T', 'G', 'D', '1'};

    private final File file;
    private final int maxFiles;

    /**
     * Creates the description of an output. It touches no file.
     *
     * @param file the path of the recording
     * @param maxFiles how many recordings are kept, the new one included, at least 1
     */
    OutputFile(File file, int maxFiles) {
        this.file = file;
        this.maxFiles = maxFiles;
    }

    /**
     * Opens the file for a new recording. If it is a recording, it is renamed to {@code FILE.1} first, {@code FILE.1}
     * to {@code FILE.2} and so on up to the first free number. The oldest is deleted if there are too many.
     *
     * <p>An empty regular file is written to. It holds nothing that could be lost, and it may be ours: it remains if
     * the recorder is killed before it has written the header, or after a power loss. If it were refused, that phone
     * would never record again. {@code File.createTempFile} makes an empty file too.
     *
     * @return a stream that writes to the begin of an empty file
     * @throws IOException if the file cannot be created, or if there is something that is no recording; the message
     *     says what it is and what to do
     */
    FileOutputStream open() throws IOException {
        if (isRecording(file)) {
            rotate();
        }
        if (!create(file)) {
            byte[] head = head(file);
            if (head == null || head.length > 0) {
                throw new IOException("the output " + file + " is " + kind(head)
                        + "; set the output to a new file or to an earlier recording");
            }
        }
        // Append mode truncates nothing, whatever has happened to the file since the check.
        return new FileOutputStream(file, true);
    }

    /** Creates an empty file. Returns false if anything has that name, also a symbolic link to nothing. */
    private static boolean create(File f) throws IOException {
        try {
            return f.createNewFile();
        } catch (IOException e) {
            throw new IOException("cannot create " + f + ": " + e.getMessage());
        }
    }

    private String kind(byte[] head) {
        if (head != null) {
            return "a file that is not a recording (it does not begin with TGD1)";
        } else if (file.isDirectory()) {
            return "a directory";
        } else if (file.isFile()) {
            return "a file that cannot be read";
        }
        return file.exists() ? "a device, a pipe or a socket" : "a symbolic link to nothing";
    }

    /**
     * Renames the recordings, the oldest first. A number that another file has is skipped. If that file were a reason
     * to refuse, it could end a recording in the middle.
     */
    private void rotate() throws IOException {
        List<File> chain = new ArrayList<File>();
        chain.add(file);
        boolean free = false;
        int number = 1;
        for (; !free && chain.size() < maxFiles; number++) {
            File next = numbered(number);
            // The empty file reserves the number. A rename alone would replace a file that another process makes here.
            free = create(next);
            if (free || isRecording(next)) {
                chain.add(next);
            }
        }
        if (!free) {
            delete(chain.get(chain.size() - 1));
            if (isRecording(numbered(number))) {
                // The limit was greater by one in an earlier run.
                delete(numbered(number));
            }
        }
        for (int k = chain.size() - 1; k > 0; k--) {
            // Some systems rename a file only to a free name.
            File from = chain.get(k - 1);
            File to = chain.get(k);
            if (!from.renameTo(to) && !(to.length() == 0 && to.delete() && from.renameTo(to))) {
                throw new IOException("cannot rename " + from + " to " + to);
            }
        }
    }

    private File numbered(int number) {
        return new File(file.getPath() + "." + number);
    }

    private static void delete(File recording) throws IOException {
        if (!recording.delete()) {
            throw new IOException("cannot delete " + recording);
        }
    }

    private static boolean isRecording(File f) {
        byte[] head = head(f);
        return head != null && java.util.Arrays.equals(head, MAGIC);
    }

    /**
     * Reads the first bytes of a regular file, or of one that a symbolic link leads to. Nothing else is opened:
     * opening a pipe blocks, and opening a device may act on it.
     *
     * @return as many bytes as the magic has, fewer if the file is shorter; null if it is no regular file or cannot
     *     be read
     */
    private static byte[] head(File f) {
        if (!f.isFile()) {
            return null;
        }
        try {
            FileInputStream in = new FileInputStream(f);
            try {
                byte[] head = new byte[MAGIC.length];
                int n = 0;
                for (int read = 0; read >= 0 && n < head.length; n += Math.max(0, read)) {
                    read = in.read(head, n, head.length - n);
                }
                return java.util.Arrays.copyOf(head, n);
            } finally {
                in.close();
            }
        } catch (IOException e) {
            return null;
        }
    }
}
