package dev.tracegen.agent;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;

/**
 * What tracegen wants to know when the program has ended: the status file, of 4,096 bytes. It is mapped, so that the
 * numbers are in it even if the program is killed. All numbers are big-endian:
 *
 * <pre>
 *   0      8 bytes "TGSTATE1"
 *   8      number of JVMs that read the file of rewritten classes
 *   12     number of classes that were replaced
 *   16     number of classes that were not, because their class files differ from the originals of that name
 *   20     2 bytes: length of the name of the first of these, in UTF-8; the name follows, at most 900 bytes
 *   1000   number of JVMs that were started to run a program, not to print their version
 *   1024   2 bytes: length of the path of the file of rewritten classes, in UTF-8; the path follows
 * </pre>
 */
final class Status {
    private static final long MAGIC = 0x5447535441544531L;
    private static final int SIZE = 4096;
    private static final int STARTED = 8;
    private static final int REPLACED = 12;
    private static final int DIFFERENT = 16;
    private static final int NAME = 20;
    private static final int LONGEST_NAME = 900;
    private static final int PROGRAMS = 1000;
    private static final int PATH = 1024;

    private final ByteBuffer file;

    Status(File path) throws IOException {
        try (RandomAccessFile in = new RandomAccessFile(path, "rw")) {
            if (in.length() != SIZE) {
                throw new IOException("not a status file of tracegen");
            }
            file = in.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, SIZE);
        }
        if (file.getLong(0) != MAGIC) {
            throw new IOException("not a status file of tracegen");
        }
    }

    String classesFile() {
        byte[] path = new byte[file.getShort(PATH)];
        ByteBuffer from = file.duplicate();
        from.position(PATH + 2);
        from.get(path);
        return new String(path, StandardCharsets.UTF_8);
    }

    synchronized void started() {
        add(STARTED);
        // Not set by the launcher if there is no main class, nor by programs that start a JVM in their own process.
        if (System.getProperty("sun.java.command") != null || System.getProperty("sun.java.launcher") == null) {
            add(PROGRAMS);
        }
    }

    synchronized void replaced() {
        add(REPLACED);
    }

    synchronized void differs(String name) {
        if (file.getInt(DIFFERENT) == 0) {
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            int n = Math.min(bytes.length, LONGEST_NAME);
            file.putShort(NAME, (short) n);
            ByteBuffer to = file.duplicate();
            to.position(NAME + 2);
            to.put(bytes, 0, n);
        }
        add(DIFFERENT);
    }

    private void add(int at) {
        file.putInt(at, file.getInt(at) + 1);
    }
}
