package dev.tracegen.runtime;

import java.nio.charset.StandardCharsets;

/** A growing array of bytes with the encodings of trace/FORMAT.md. All numbers are little-endian. */
final class ChunkBytes {
    byte[] bytes = new byte[4096];
    int size;

    /** Makes room for n more bytes. */
    void reserve(int n) {
        if (bytes.length - size < n) {
            byte[] more = new byte[Math.max(bytes.length * 2, size + n)];
            System.arraycopy(bytes, 0, more, 0, size);
            bytes = more;
        }
    }

    ChunkBytes u8(int v) {
        reserve(1);
        bytes[size++] = (byte) v;
        return this;
    }

    ChunkBytes u16(int v) {
        return u8(v).u8(v >> 8);
    }

    ChunkBytes u32(int v) {
        reserve(4);
        put32(size, v);
        size += 4;
        return this;
    }

    ChunkBytes u64(long v) {
        return u32((int) v).u32((int) (v >>> 32));
    }

    /** Overwrites four bytes that were written before. */
    void put32(int at, int v) {
        for (int k = 0; k < 4; k++) {
            bytes[at + k] = (byte) (v >>> 8 * k);
        }
    }

    /** Writes an unsigned number, seven bits to a byte, the lowest first. Bit 7 is set in all bytes but the last. */
    ChunkBytes uv(long v) {
        reserve(10);
        while ((v & ~0x7FL) != 0) {
            bytes[size++] = (byte) (v | 0x80);
            v >>>= 7;
        }
        bytes[size++] = (byte) v;
        return this;
    }

    /** Writes a signed number: 0, -1, 1, -2, ... are written as 0, 1, 2, 3, ... */
    ChunkBytes sv(long v) {
        return uv(v << 1 ^ v >> 63);
    }

    ChunkBytes str(String s) {
        byte[] utf8 = s.getBytes(StandardCharsets.UTF_8);
        uv(utf8.length);
        reserve(utf8.length);
        System.arraycopy(utf8, 0, bytes, size, utf8.length);
        size += utf8.length;
        return this;
    }

    /**
     * Writes records, each as its difference from the one before. The differences are small: the ID of a leaf's exit
     * is that of its entry, and most records have the time of the one before.
     */
    ChunkBytes records(long[] records, int from, int to) {
        int id = 0;
        long time = 0;
        for (int k = from; k < to; k++) {
            long r = records[k];
            int nextId = (int) (r >>> Ring.ID_SHIFT) & 0xFFFFF;
            long nextTime = r & Ring.TIME_MASK;
            long change = nextId - id;
            uv((change << 1 ^ change >> 63) << 2 | (nextTime != time ? 2 : 0) | r >>> 63);
            if (nextTime != time) {
                sv(nextTime - time);
            }
            id = nextId;
            time = nextTime;
        }
        return this;
    }
}
