package dev.tracegen.runtime;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * What a file in the format of trace/FORMAT.md has, as far as a program must know that appends to it: where its last
 * whole chunk ends, the number of the next one, whether it is closed, and its META. It reads the whole file with a
 * small buffer, because only a checksum shows whether a chunk is whole.
 */
final class ChunkScan {
    private static final int MAX_PAYLOAD = 16 << 20;

    /** The most that a META chunk may take when it is inflated. */
    private static final int MAX_META = 1 << 20;

    /** How often the bytes of a file may be summed up in vain, because something looks like the begin of a chunk. */
    private static final int WASTE = 4;

    private final RandomAccessFile in;
    private final long length;
    private final byte[] buffer = new byte[1 << 16];
    private long bufferAt;
    private int buffered;
    private long wasted;

    /** Where the last whole chunk ends, without the zeros behind it. */
    private long end;
    private long nextNumber;
    private boolean closed;
    private boolean ended;
    private Map<String, String> meta;

    private ChunkScan(RandomAccessFile in) throws IOException {
        this.in = in;
        this.length = in.length();
    }

    /**
     * Reads a file to its end.
     *
     * @return null if it is no recording, has no whole META, or is so damaged that reading it would take too long
     */
    static ChunkScan of(RandomAccessFile in) throws IOException {
        ChunkScan s = new ChunkScan(in);
        if (s.length < ChunkFrames.HEADER || s.u32(0) != ChunkFrames.MAGIC || (s.u32(4) & 0xFFFF) != 1) {
            return null;
        }
        long header = s.u32(8) & 0xFFFFFFFFL;
        if (header < ChunkFrames.HEADER || header > s.length) {
            return null;
        }
        return s.chunks(header) && s.meta != null ? s : null;
    }

    long end() {
        return end;
    }

    /** Returns the number that the next chunk has. */
    long nextNumber() {
        return nextNumber;
    }

    /** Reports whether the file has an END chunk. */
    boolean isClosed() {
        return closed;
    }

    /** Reports whether the file says how its process ended. */
    boolean hasExit() {
        return ended;
    }

    Map<String, String> meta() {
        return meta;
    }

    private boolean chunks(long from) throws IOException {
        end = from;
        for (long at = from; at + ChunkFrames.CHUNK_HEADER <= length;) {
            if (u32(at) != ChunkFrames.SYNC) {
                at = nextSync(at + 1);
                continue;
            }
            long size = u32(at + 8) & 0xFFFFFFFFL;
            boolean fits = size <= MAX_PAYLOAD && at + ChunkFrames.CHUNK_HEADER + size <= length;
            if (!fits || checksum(at, (int) size) != u32(at + 16)) {
                wasted += fits ? size : 0;
                if (wasted > WASTE * length) {
                    return false;
                }
                at = nextSync(at + 1);
                continue;
            }
            chunk(at, (int) size);
            end = at + ChunkFrames.CHUNK_HEADER + size;
            at = end + 3 & ~3L;
        }
        return true;
    }

    private void chunk(long at, int size) throws IOException {
        nextNumber = Math.max(nextNumber, (u32(at + 12) & 0xFFFFFFFFL) + 1);
        int type = u32(at + 4) & 0xFFFF;
        closed |= type == RecordingWriter.END;
        ended |= type == RecordingWriter.EXIT;
        if (type == RecordingWriter.META && meta == null && size <= MAX_META) {
            byte[] payload = new byte[size];
            in.seek(at + ChunkFrames.CHUNK_HEADER);
            in.readFully(payload);
            meta = values((u32(at + 4) >>> 16 & ChunkFrames.DEFLATE) != 0 ? inflate(payload) : payload);
        }
    }

    /** Returns the keys and values of a META chunk; null if it makes no sense. */
    private static Map<String, String> values(byte[] payload) {
        if (payload == null) {
            return null;
        }
        int[] at = {0};
        Map<String, String> all = new HashMap<String, String>();
        try {
            for (int n = uv(payload, at); n > 0; n--) {
                String key = str(payload, at);
                all.put(key, str(payload, at));
            }
            return all;
        } catch (IndexOutOfBoundsException e) {
            return null;
        }
    }

    private static int uv(byte[] b, int[] at) {
        int v = 0;
        for (int shift = 0; shift < 28; shift += 7) {
            int next = b[at[0]++];
            v |= (next & 0x7F) << shift;
            if (next >= 0) {
                return v;
            }
        }
        throw new IndexOutOfBoundsException();
    }

    private static String str(byte[] b, int[] at) {
        int n = uv(b, at);
        if (n > b.length - at[0]) {
            throw new IndexOutOfBoundsException();
        }
        at[0] += n;
        return new String(b, at[0] - n, n, StandardCharsets.UTF_8);
    }

    private static byte[] inflate(byte[] payload) {
        Inflater inflater = new Inflater(true);
        try {
            int size = payload.length < 4 ? -1 : payload[0] & 0xFF | (payload[1] & 0xFF) << 8
                    | (payload[2] & 0xFF) << 16 | payload[3] << 24;
            if (size < 0 || size > MAX_META) {
                return null;
            }
            byte[] out = new byte[size];
            inflater.setInput(payload, 4, payload.length - 4);
            int n = 0;
            for (int got = -1; n < size && got != 0; n += got) {
                got = inflater.inflate(out, n, size - n);
            }
            return n == size ? out : null;
        } catch (DataFormatException e) {
            return null;
        } finally {
            inflater.end();
        }
    }

    /** Returns the first place from at on where a chunk may begin; the end of the file if there is none. */
    private long nextSync(long at) throws IOException {
        for (; at + 4 <= length; at++) {
            if (u8(at) == 'T' && u32(at) == ChunkFrames.SYNC) {
                return at;
            }
        }
        return length;
    }

    private int checksum(long at, int size) throws IOException {
        CRC32 crc = new CRC32();
        add(crc, at + 4, 12);
        add(crc, at + ChunkFrames.CHUNK_HEADER, size);
        return (int) crc.getValue();
    }

    private void add(CRC32 crc, long at, int size) throws IOException {
        while (size > 0) {
            fill(at, 1);
            int from = (int) (at - bufferAt);
            int n = Math.min(size, buffered - from);
            crc.update(buffer, from, n);
            at += n;
            size -= n;
        }
    }

    private int u8(long at) throws IOException {
        fill(at, 1);
        return buffer[(int) (at - bufferAt)] & 0xFF;
    }

    private int u32(long at) throws IOException {
        fill(at, 4);
        int k = (int) (at - bufferAt);
        return buffer[k] & 0xFF | (buffer[k + 1] & 0xFF) << 8 | (buffer[k + 2] & 0xFF) << 16 | buffer[k + 3] << 24;
    }

    /** Reads so that n bytes from at on are in the buffer. They must be in the file. */
    private void fill(long at, int n) throws IOException {
        if (at >= bufferAt && at + n <= bufferAt + buffered) {
            return;
        }
        in.seek(at);
        int size = (int) Math.min(buffer.length, length - at);
        in.readFully(buffer, 0, size);
        bufferAt = at;
        buffered = size;
    }
}
