package dev.tracegen.runtime;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.OverlappingFileLockException;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * A recording of an earlier process that was killed: it has no END chunk. How that process ended can be appended to it,
 * once. The file is locked until {@link #close}, and it is not opened if a living process writes it. Not safe for
 * concurrent use.
 */
public final class UnfinishedRecording implements Closeable {
    /** The byte that the recorder of a living process locks. */
    private static final long LOCKED_BYTE = 1L << 40;

    private final RandomAccessFile file;
    private final ChunkScan scan;
    private boolean appended;

    private UnfinishedRecording(RandomAccessFile file, ChunkScan scan) {
        this.file = file;
        this.scan = scan;
    }

    /**
     * Opens a recording and reads it to its end. Accesses the disk.
     *
     * @return null if the file is no recording, was closed, says already how its process ended, or is written by a
     *     living process. Otherwise it must be closed
     * @throws IOException if the file cannot be read or written
     */
    public static UnfinishedRecording open(File path) throws IOException {
        if (!path.isFile()) {
            // Opening a pipe blocks, and opening a device may act on it.
            return null;
        }
        UnfinishedRecording found = null;
        RandomAccessFile file = new RandomAccessFile(path, "rw");
        try {
            ChunkScan scan = lock(file) ? ChunkScan.of(file) : null;
            if (scan != null && !scan.isClosed() && !scan.hasExit()) {
                found = new UnfinishedRecording(file, scan);
            }
        } finally {
            if (found == null) {
                file.close();
            }
        }
        return found;
    }

    /** Locks a file. Returns false if a recorder writes it. */
    private static boolean lock(RandomAccessFile file) {
        try {
            return file.getChannel().tryLock(LOCKED_BYTE, 1, false) != null;
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (IOException e) {
            // There are no locks here.
            return true;
        }
    }

    /** Returns what the recording says of itself: the keys and values of its META chunk. */
    public Map<String, String> meta() {
        return scan.meta();
    }

    /**
     * Appends how the process ended, as an EXIT chunk (trace/FORMAT.md, chunk 18), behind the last whole chunk, and
     * waits until it is on the disk. A chunk that was cut is removed before. If this fails, the file is as whole as it
     * was. A second call has no effect.
     *
     * @param values keys such as {@code reason}, and their values
     * @throws IOException if the file cannot be written
     */
    public void append(Map<String, String> values) throws IOException {
        if (appended) {
            return;
        }
        appended = true;
        ChunkBytes payload = new ChunkBytes();
        payload.uv(values.size());
        for (Map.Entry<String, String> e : new TreeMap<String, String>(values).entrySet()) {
            payload.str(e.getKey()).str(e.getValue());
        }
        ChunkBytes out = new ChunkBytes();
        while ((scan.end() + out.size) % 4 != 0) {
            out.u8(0);
        }
        frame(out, payload);
        file.setLength(scan.end());
        try {
            file.seek(scan.end());
            file.write(out.bytes, 0, out.size);
            file.getFD().sync();
        } catch (IOException e) {
            file.setLength(scan.end());
            throw e;
        }
    }

    private void frame(ChunkBytes out, ChunkBytes payload) {
        int begin = out.size;
        out.u32(0x4B434754).u16(RecordingWriter.EXIT).u16(RecordingWriter.DEFLATE).u32(0).u32((int) scan.nextNumber())
                .u32(0);
        int body = out.size;
        out.u32(payload.size);
        Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
        deflater.setInput(payload.bytes, 0, payload.size);
        deflater.finish();
        while (!deflater.finished()) {
            out.reserve(4096);
            out.size += deflater.deflate(out.bytes, out.size, out.bytes.length - out.size);
        }
        deflater.end();
        out.put32(begin + 8, out.size - body);
        CRC32 crc = new CRC32();
        crc.update(out.bytes, begin + 4, 12);
        crc.update(out.bytes, body, out.size - body);
        out.put32(begin + 16, (int) crc.getValue());
        while ((out.size - begin) % 4 != 0) {
            out.u8(0);
        }
    }

    /** Closes and unlocks the file. */
    @Override
    public void close() throws IOException {
        file.close();
    }
}
