package dev.tracegen.agent;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * The file of rewritten classes. It is mapped, so that it takes no memory from the program's heap. All numbers are
 * big-endian:
 *
 * <pre>
 *   8 bytes   "TGCLASS1"
 *   4         number of classes
 *   4         0
 *   32 each   the classes, by hash and CRC-32 of the original, both compared as signed numbers:
 *     4         String.hashCode of the class's internal name
 *     4         CRC-32 of the original class file
 *     4         size of the original
 *     4         size of the rewritten class file; 0 if the class is not rewritten
 *     4         its size in this file
 *     4         1 if it is deflated, 0 if it is stored
 *     8         its offset in this file
 * </pre>
 */
final class RewrittenClasses {
    private static final long MAGIC = 0x5447434C41535331L;
    private static final int HEAD = 16;
    private static final int ROW = 32;

    private final ByteBuffer file;
    private final int count;

    RewrittenClasses(File path) throws IOException {
        try (RandomAccessFile in = new RandomAccessFile(path, "r")) {
            // The mapping stays valid when the file is closed.
            file = in.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, in.length());
        }
        if (file.capacity() < HEAD || file.getLong(0) != MAGIC) {
            throw new IOException(path + " is not a file of rewritten classes");
        }
        count = file.getInt(8);
    }

    /** Returns the first row with the hash of a name; -1 if there is none. */
    int find(int hash) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (file.getInt(HEAD + middle * ROW) < hash) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < count && file.getInt(HEAD + low * ROW) == hash ? low : -1;
    }

    /**
     * Returns the rewritten class of an original, searched from a row on; empty if the original is not rewritten, null
     * if it is not known.
     */
    byte[] get(int row, int hash, int crc, int size) throws IOException, DataFormatException {
        for (; row < count; row++) {
            int at = HEAD + row * ROW;
            if (file.getInt(at) != hash) {
                return null;
            }
            if (file.getInt(at + 4) == crc && file.getInt(at + 8) == size) {
                return read(at);
            }
        }
        return null;
    }

    private byte[] read(int row) throws IOException, DataFormatException {
        byte[] result = new byte[file.getInt(row + 12)];
        byte[] stored = new byte[file.getInt(row + 16)];
        ByteBuffer from = file.duplicate();
        from.position((int) file.getLong(row + 24));
        from.get(stored);
        if (file.getInt(row + 20) == 0) {
            return stored;
        }
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(stored);
            int n = 0;
            while (n < result.length) {
                int more = inflater.inflate(result, n, result.length - n);
                if (more == 0) {
                    throw new IOException("a rewritten class is damaged");
                }
                n += more;
            }
            return result;
        } finally {
            inflater.end();
        }
    }
}
