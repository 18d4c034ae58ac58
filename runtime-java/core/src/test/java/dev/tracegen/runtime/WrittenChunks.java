package dev.tracegen.runtime;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Inflater;

/** Reads the chunks of a recording for tests, up to the last complete one. */
final class WrittenChunks {
    /** One chunk with a cursor into its inflated payload. */
    static final class Chunk {
        final int type;
        private final byte[] payload;
        private int at;

        Chunk(int type, byte[] payload) {
            this.type = type;
            this.payload = payload;
        }

        int u8() {
            return payload[at++] & 0xFF;
        }

        byte[] rest() {
            return java.util.Arrays.copyOfRange(payload, at, payload.length);
        }

        long uv() {
            long v = 0;
            for (int shift = 0;; shift += 7) {
                int b = u8();
                v |= (long) (b & 0x7F) << shift;
                if (b < 0x80) {
                    return v;
                }
            }
        }

        int u32() {
            return u8() | u8() << 8 | u8() << 16 | u8() << 24;
        }

        long sv() {
            long v = uv();
            return v >>> 1 ^ -(v & 1);
        }

        String str() {
            int size = (int) uv();
            at += size;
            return new String(payload, at - size, size, java.nio.charset.StandardCharsets.UTF_8);
        }
    }

    private WrittenChunks() {
    }

    /** Returns the chunks of one type, 0 for all. */
    static List<Chunk> of(Path file, int type) throws Exception {
        List<Chunk> all = new ArrayList<Chunk>();
        byte[] bytes = Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
        ByteBuffer b = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 32; at + 20 <= bytes.length;) {
            int size = b.getInt(at + 8);
            if (at + 20 + size > bytes.length) {
                break;
            }
            byte[] payload;
            if ((b.getShort(at + 6) & ChunkFrames.DEFLATE) != 0) {
                payload = new byte[b.getInt(at + 20)];
                Inflater inflater = new Inflater(true);
                inflater.setInput(bytes, at + 24, size - 4);
                inflater.inflate(payload);
                inflater.end();
            } else {
                payload = java.util.Arrays.copyOfRange(bytes, at + 20, at + 20 + size);
            }
            if (type == 0 || b.getShort(at + 4) == type) {
                all.add(new Chunk(b.getShort(at + 4), payload));
            }
            at += 20 + size + 3 & ~3;
        }
        return all;
    }

    /**
     * Returns the marks of a thread: for each the number of the record, the kind, the method or how many were lost, and
     * the hash.
     */
    static List<long[]> marks(Path file, int thread) throws Exception {
        List<long[]> all = new ArrayList<long[]>();
        long made = 0;
        for (Chunk c : of(file, RecordingWriter.COROUTINES)) {
            if (c.uv() != thread) {
                continue;
            }
            if (c.uv() != made) {
                throw new AssertionError("the number of the first mark is not " + made);
            }
            long number = 0;
            for (long n = c.uv(); n > 0; n--) {
                number += c.sv();
                long[] mark = {number, c.u8(), c.uv(), c.u32()};
                made += mark[1] == Marks.LOST ? mark[2] : 1;
                all.add(mark);
            }
        }
        return all;
    }

    /**
     * Returns what a thread executed: for each the composable, the dirty bits, the begin and the duration in
     * milliseconds, and the records; and {@code lost} with how many are not there.
     */
    static List<String> compositions(Path file, int thread) throws Exception {
        List<String> strings = new ArrayList<String>();
        strings.add("");
        List<String> all = new ArrayList<String>();
        for (Chunk c : of(file, 0)) {
            if (c.type == RecordingWriter.STRINGS) {
                c.uv();
                for (long n = c.uv(); n > 0; n--) {
                    strings.add(c.str());
                }
            }
            if (c.type != RecordingWriter.COMPOSITIONS || c.uv() != thread) {
                continue;
            }
            long lost = c.uv();
            if (lost > 0) {
                all.add("lost " + lost);
            }
            long begin = 0;
            long record = 0;
            for (long n = c.uv(); n > 0; n--) {
                String text = strings.get((int) c.uv()) + " " + c.u32() + " " + c.u32();
                begin += c.sv();
                text += " " + begin / 1000000 + " " + c.uv() / 1000000;
                record += c.sv();
                all.add(text + " " + record + "+" + c.uv());
            }
        }
        return all;
    }

    /** Returns the records of a thread as {@code +ID -ID ...}, with {@code !LOST} and the number at each gap. */
    static String records(Path file, int thread) throws Exception {
        StringBuilder b = new StringBuilder();
        long next = 0;
        for (Chunk c : of(file, RecordingWriter.RECORDS)) {
            if (c.uv() != thread) {
                continue;
            }
            long first = c.uv();
            long lost = c.uv();
            b.append(lost > 0 ? "!" + lost + " " : "").append(first == next ? "" : "#" + first + " ");
            long n = c.uv();
            next = first + n;
            long id = 0;
            for (long k = 0; k < n; k++) {
                long h = c.uv();
                id += h >>> 3 ^ -(h >>> 2 & 1);
                if ((h & 2) != 0) {
                    c.sv();
                }
                b.append((h & 1) != 0 ? '+' : '-').append(id).append(' ');
            }
        }
        return b.toString().trim();
    }
}
