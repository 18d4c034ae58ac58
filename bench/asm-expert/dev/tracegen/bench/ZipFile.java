package dev.tracegen.bench;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Reads and writes zip files directly, because {@code java.util.zip} can neither copy an entry without inflating it nor
 * write one that another thread has deflated. It supports only what the benchmark's jars need: no zip64, no encryption.
 */
final class ZipFile {
    /** One entry of the central directory, and the position of its data. */
    record Entry(String name, int method, int time, int date, int crc, int compressed, int size, int data) {
        boolean isClass() {
            return name.endsWith(".class");
        }
    }

    /** An entry ready to be written. */
    record Packed(Entry entry, int method, int crc, int size, ByteBuffer data) {}

    final List<Entry> entries = new ArrayList<>();
    private final ByteBuffer file;

    ZipFile(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path)) {
            file = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()).order(ByteOrder.LITTLE_ENDIAN);
        }
        int end = file.limit() - 22;
        while (file.getInt(end) != 0x06054b50) {
            end--;
        }
        int count = file.getShort(end + 10) & 0xFFFF;
        int at = file.getInt(end + 16);
        for (int i = 0; i < count; i++) {
            int nameLength = file.getShort(at + 28) & 0xFFFF;
            byte[] name = new byte[nameLength];
            file.get(at + 46, name);
            int local = file.getInt(at + 42);
            int data = local + 30 + (file.getShort(local + 26) & 0xFFFF) + (file.getShort(local + 28) & 0xFFFF);
            entries.add(new Entry(new String(name, StandardCharsets.UTF_8), file.getShort(at + 10),
                    file.getShort(at + 12),
                    file.getShort(at + 14), file.getInt(at + 16), file.getInt(at + 20), file.getInt(at + 24), data));
            at += 46 + nameLength + (file.getShort(at + 30) & 0xFFFF) + (file.getShort(at + 32) & 0xFFFF);
        }
    }

    /** Returns the unchanged entry, to be written again. */
    Packed raw(Entry e) {
        return new Packed(e, e.method, e.crc, e.size, file.slice(e.data, e.compressed));
    }

    byte[] inflate(Entry e, Inflater inflater) throws DataFormatException {
        byte[] out = new byte[e.size];
        if (e.method == 0) {
            file.get(e.data, out);
            return out;
        }
        inflater.reset();
        inflater.setInput(file.slice(e.data, e.compressed));
        int n = 0;
        while (n < out.length) {
            int read = inflater.inflate(out, n, out.length - n);
            if (read == 0 && (inflater.finished() || inflater.needsInput())) {
                throw new DataFormatException(e.name + ": short");
            }
            n += read;
        }
        return out;
    }

    /** Deflates, or stores if there is no deflater. */
    static Packed pack(Entry e, byte[] bytes, Deflater deflater, CRC32 crc) {
        crc.reset();
        crc.update(bytes);
        if (deflater == null) {
            return new Packed(e, 0, (int) crc.getValue(), bytes.length, ByteBuffer.wrap(bytes));
        }
        deflater.reset();
        deflater.setInput(bytes);
        deflater.finish();
        byte[] out = new byte[bytes.length / 2 + 64];
        int n = 0;
        while (!deflater.finished()) {
            if (n == out.length) {
                out = Arrays.copyOf(out, out.length * 2);
            }
            n += deflater.deflate(out, n, out.length - n);
        }
        return new Packed(e, 8, (int) crc.getValue(), bytes.length, ByteBuffer.wrap(out, 0, n));
    }

    /** Writes entries in the order they are given. */
    static final class Writer implements AutoCloseable {
        private final FileChannel channel;
        private final ByteArrayOutputStream directory = new ByteArrayOutputStream();
        private long offset;
        private int count;

        Writer(Path path) throws IOException {
            channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                    StandardOpenOption.TRUNCATE_EXISTING);
        }

        private final ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 16).order(ByteOrder.LITTLE_ENDIAN);

        void write(Packed p) throws IOException {
            byte[] name = p.entry.name.getBytes(StandardCharsets.UTF_8);
            int compressed = p.data.remaining();
            ByteBuffer head = ByteBuffer.allocate(30 + name.length).order(ByteOrder.LITTLE_ENDIAN);
            head.putInt(0x04034b50);
            common(head, p, compressed, name.length);
            head.putShort((short) 0).put(name).flip();
            ByteBuffer central = ByteBuffer.allocate(46 + name.length).order(ByteOrder.LITTLE_ENDIAN);
            central.putInt(0x02014b50).putShort((short) 20);
            common(central, p, compressed, name.length);
            central.putShort((short) 0).putShort((short) 0).putShort((short) 0).putShort((short) 0).putInt(0)
                    .putInt((int) offset).put(name);
            directory.write(central.array());
            offset += head.remaining() + compressed;
            count++;
            put(head);
            put(p.data);
        }

        private static void common(ByteBuffer b, Packed p, int compressed, int nameLength) {
            b.putShort((short) 20).putShort((short) 0x0800).putShort((short) p.method).putShort((short) p.entry.time)
                    .putShort((short) p.entry.date).putInt(p.crc).putInt(compressed).putInt(p.size)
                    .putShort((short) nameLength);
        }

        private void put(ByteBuffer b) throws IOException {
            if (b.remaining() > buffer.remaining()) {
                flush();
            }
            if (b.remaining() > buffer.remaining()) {
                while (b.hasRemaining()) {
                    channel.write(b);
                }
            } else {
                buffer.put(b);
            }
        }

        private void flush() throws IOException {
            buffer.flip();
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
            buffer.clear();
        }

        @Override
        public void close() throws IOException {
            put(ByteBuffer.wrap(directory.toByteArray()));
            ByteBuffer end = ByteBuffer.allocate(22).order(ByteOrder.LITTLE_ENDIAN);
            end.putInt(0x06054b50).putInt(0).putShort((short) count).putShort((short) count).putInt(directory.size())
                    .putInt((int) offset).putShort((short) 0).flip();
            put(end);
            flush();
            channel.close();
        }
    }
}
