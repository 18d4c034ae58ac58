package dev.tracegen.runtime.report;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/** Reports that are sent together. Immutable once it was returned. */
public final class Batch {
    private final List<File> files = new ArrayList<File>();
    private final ByteArrayOutputStream lines = new ByteArrayOutputStream();

    Batch() {
    }

    void add(File file, byte[] line) {
        files.add(file);
        lines.write(line, 0, line.length);
        lines.write('\n');
    }

    List<File> files() {
        return files;
    }

    /**
     * Returns the number of reports.
     *
     * @return at least 1
     */
    public int size() {
        return files.size();
    }

    /** Returns the size of the lines before compression. */
    int bytes() {
        return lines.size();
    }

    /**
     * Returns the reports, one on each line.
     *
     * @return UTF-8
     */
    public byte[] lines() {
        return lines.toByteArray();
    }

    /** Returns the lines compressed. */
    public byte[] gzip() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(lines.toByteArray());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return out.toByteArray();
    }
}
