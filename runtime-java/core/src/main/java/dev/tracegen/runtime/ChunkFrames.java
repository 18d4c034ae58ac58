package dev.tracegen.runtime;

import java.util.zip.CRC32;
import java.util.zip.Deflater;

/** Puts the header of a file and the frames of chunks into bytes, as trace/FORMAT.md says. */
final class ChunkFrames {
    static final int DEFLATE = 1;

    static final int MAGIC = 0x31444754; // TGD1
    static final int SYNC = 0x4B434754; // TGCK
    static final int HEADER = 32;
    static final int CHUNK_HEADER = 20;

    /** A shorter payload is not deflated. */
    private static final int WORTH_DEFLATING = 128;

    private final Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
    private final CRC32 crc = new CRC32();

    /** Appends the header of a file. */
    void header(ChunkBytes out, int minor, long fileId) {
        int begin = out.size;
        out.u32(MAGIC).u16(1).u16(minor).u32(HEADER).u64(fileId).u64(0);
        crc.reset();
        crc.update(out.bytes, begin, out.size - begin);
        out.u32((int) crc.getValue());
    }

    /** Appends a chunk. The bytes before it end at a multiple of 4. */
    void chunk(ChunkBytes out, int type, int flags, int number, ChunkBytes payload) {
        int begin = out.size;
        boolean deflate = payload.size >= WORTH_DEFLATING;
        out.u32(SYNC).u16(type).u16(flags | (deflate ? DEFLATE : 0)).u32(0).u32(number).u32(0);
        int body = begin + CHUNK_HEADER;
        if (deflate) {
            deflate(out, payload);
        } else {
            out.reserve(payload.size);
            System.arraycopy(payload.bytes, 0, out.bytes, out.size, payload.size);
            out.size += payload.size;
        }
        out.put32(begin + 8, out.size - body);
        crc.reset();
        crc.update(out.bytes, begin + 4, 12);
        crc.update(out.bytes, body, out.size - body);
        out.put32(begin + 16, (int) crc.getValue());
        while (out.size % 4 != 0) {
            out.u8(0);
        }
    }

    private void deflate(ChunkBytes out, ChunkBytes payload) {
        out.u32(payload.size);
        deflater.reset();
        deflater.setInput(payload.bytes, 0, payload.size);
        deflater.finish();
        while (!deflater.finished()) {
            out.reserve(4096);
            out.size += deflater.deflate(out.bytes, out.size, out.bytes.length - out.size);
        }
    }

    /** Releases the memory outside of the heap. Nothing can be framed afterwards. */
    void end() {
        deflater.end();
    }
}
