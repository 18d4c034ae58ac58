package dev.tracegen.runtime.report;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import java.util.TreeSet;

/** Reads and replaces small files. A reader sees the old content or the new one, whenever the process is killed. */
final class DiskFile {
    /** The end of the names of files that are being written. */
    static final String TEMPORARY = ".tmp";

    private DiskFile() {
    }

    /**
     * Replaces a file.
     *
     * @param temporary a name beside it that no other thread or process uses
     * @param sync whether to wait until the content is on the disk, so that it survives a loss of power too
     * @throws IOException if it fails; then the old content is still there, and the temporary file is removed
     */
    static void replace(File file, File temporary, byte[] content, boolean sync) throws IOException {
        boolean done = false;
        try {
            try (FileOutputStream out = new FileOutputStream(temporary)) {
                out.write(content);
                if (sync) {
                    out.getFD().sync();
                }
            }
            if (!temporary.renameTo(file)) {
                throw new IOException(temporary + " cannot be renamed to " + file.getName());
            }
            done = true;
        } finally {
            if (!done) {
                temporary.delete();
            }
        }
    }

    /**
     * Reads a file.
     *
     * @return null if it cannot be read or is larger than the limit
     */
    static byte[] read(File file, int limit) {
        try (InputStream in = new FileInputStream(file)) {
            return read(in, limit);
        } catch (IOException e) {
            return null;
        }
    }

    /** Reads a stream to its end. Returns null if it is longer than the limit. */
    static byte[] read(InputStream in, int limit) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
            out.write(buffer, 0, n);
            if (out.size() > limit) {
                return null;
            }
        }
        return out.toByteArray();
    }

    /** Reads keys and values. A file that is missing or makes no sense has none. */
    static Properties properties(File file) {
        Properties p = new Properties();
        byte[] content = read(file, 1 << 20);
        try {
            if (content != null) {
                p.load(new ByteArrayInputStream(content));
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (IllegalArgumentException e) {
            p.clear();
        }
        return p;
    }

    /** Returns the content of a file that {@link #properties} reads. Keys and values are words in ASCII. */
    static byte[] content(Properties p) {
        StringBuilder b = new StringBuilder();
        for (String key : new TreeSet<String>(p.stringPropertyNames())) {
            b.append(key).append('=').append(p.getProperty(key)).append('\n');
        }
        return Text.ascii(b.toString());
    }

    /** Returns a number of a file, the default if it is missing or none. */
    static long number(Properties p, String key, long missing) {
        try {
            return Long.parseLong(p.getProperty(key, String.valueOf(missing)).trim());
        } catch (NumberFormatException e) {
            return missing;
        }
    }
}
