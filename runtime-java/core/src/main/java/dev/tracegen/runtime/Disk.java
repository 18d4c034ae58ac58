package dev.tracegen.runtime;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;

/** The operations on files that a full or failing disk lets fail. Tests have a disk whose operations fail. */
class Disk {
    /**
     * Opens a file for appending. Append mode truncates nothing, whatever has happened to the file since it was
     * checked.
     */
    FileOutputStream open(File file) throws IOException {
        return new FileOutputStream(file, true);
    }

    /** Creates an empty file. Returns false if anything has that name, also a symbolic link to nothing. */
    boolean create(File file) throws IOException {
        return file.createNewFile();
    }

    /** Writes bytes. If it fails, a part of them may be in the file. */
    void write(FileOutputStream stream, byte[] bytes, int size) throws IOException {
        stream.write(bytes, 0, size);
    }

    /** Cuts a file. Later writes go to the new end. */
    void truncate(FileOutputStream stream, long size) throws IOException {
        stream.getChannel().truncate(size);
    }

    /** Returns when what was written is on the disk. */
    void sync(FileOutputStream stream) throws IOException {
        stream.getFD().sync();
    }
}
