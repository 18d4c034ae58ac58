package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a process ended is appended to its recording, whatever the end of the file is like. */
class UnfinishedRecordingTest {
    private static final Map<String, String> ANR = Collections.singletonMap("reason", "anr");

    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();
    private Recorder recorder;
    private Path output;

    @BeforeEach
    void start() {
        recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024));
        output = dir.resolve("app.tgd");
    }

    @AfterEach
    void stop() throws Exception {
        Await.stop(recorder);
    }

    /**
     * Writes a recording with a few chunks and returns its bytes. This process writes another file, because it would
     * keep its claim to that one until it ends.
     */
    private byte[] recording(boolean closed) throws IOException {
        Path written = Files.createTempDirectory(dir, "process").resolve("app.tgd");
        RecordingWriter w = new RecordingWriter(new RecorderOptions().platform(platform).output(written.toFile())
                .meta("process", "a.b").meta("long", new String(new char[500]).replace('\0', 'x')), 0, 1, new Disk());
        w.open();
        w.messages.alive(5, 6, Collections.<OpenCall>emptyList());
        w.messages.alive(7, 8, Collections.<OpenCall>emptyList());
        if (closed) {
            w.close();
        }
        Files.copy(written, output, StandardCopyOption.REPLACE_EXISTING);
        return Files.readAllBytes(output);
    }

    private static boolean append(File file) throws IOException {
        UnfinishedRecording r = UnfinishedRecording.open(file);
        if (r == null) {
            return false;
        }
        assertEquals("a.b", r.meta().get("process"));
        r.append(ANR, new RecorderOptions());
        r.close();
        return true;
    }

    /** Asserts that the file has so many chunks, the last of which says how the process ended. */
    private void assertExit(int chunks) throws Exception {
        List<WrittenChunks.Chunk> all = WrittenChunks.of(output, 0);
        assertEquals(chunks, all.size());
        WrittenChunks.Chunk exit = all.get(chunks - 1);
        assertEquals(RecordingWriter.EXIT, exit.type);
        assertEquals(1, exit.uv());
        assertEquals("reason", exit.str());
        assertEquals("anr", exit.str());
    }

    @Test
    void appendsOnce() throws Exception {
        byte[] before = recording(false);
        assertEquals(true, append(output.toFile()));
        assertExit(5);
        assertArrayEquals(before, Arrays.copyOf(Files.readAllBytes(output), before.length));
        byte[] after = Files.readAllBytes(output);
        assertEquals(false, append(output.toFile()), "it says already how the process ended");
        assertArrayEquals(after, Files.readAllBytes(output));
    }

    @Test
    void cutsTornTail() throws Exception {
        byte[] whole = recording(false);
        int chunks = 0;
        for (int cut = whole.length; cut > 0; cut--) {
            Files.write(output, Arrays.copyOf(whole, cut));
            chunks = WrittenChunks.of(output, 0).size();
            boolean hasMeta = chunks > 0;
            assertEquals(hasMeta, append(output.toFile()), "cut at " + cut);
            if (hasMeta) {
                assertExit(chunks + 1);
            } else {
                assertArrayEquals(Arrays.copyOf(whole, cut), Files.readAllBytes(output), "cut at " + cut);
            }
        }
        assertEquals(0, chunks);
    }

    /** After a power loss a file may have its length and not its content. */
    @Test
    void cutsZerosAndRubbish() throws Exception {
        byte[] whole = recording(false);
        byte[] tail = Arrays.copyOf(whole, whole.length + 4096);
        Files.write(output, tail);
        assertEquals(true, append(output.toFile()));
        assertExit(5);
        System.arraycopy("TGCKTGCK".getBytes("US-ASCII"), 0, tail, whole.length + 40, 8);
        Files.write(output, tail);
        assertEquals(true, append(output.toFile()));
        assertExit(5);
    }

    /** What is whole behind a damaged place stays. The number goes on, so that a reader sees that a chunk is lost. */
    @Test
    void keepsWhatIsBehindDamage() throws Exception {
        byte[] whole = recording(false);
        byte[] hurt = whole.clone();
        int third = third(whole);
        hurt[third + 20] ^= 1;
        Files.write(output, hurt);
        assertEquals(true, append(output.toFile()));
        byte[] after = Files.readAllBytes(output);
        assertArrayEquals(hurt, Arrays.copyOf(after, hurt.length));
        assertEquals(4, after[hurt.length + 12], "the number of the chunk");
    }

    /** Returns where the third chunk begins. */
    private static int third(byte[] file) {
        int at = 32;
        for (int k = 0; k < 2; k++) {
            int size = file[at + 8] & 0xFF | (file[at + 9] & 0xFF) << 8;
            at = at + 20 + size + 3 & ~3;
        }
        return at;
    }

    @Test
    void leavesOthersAlone() throws Exception {
        byte[] closed = recording(true);
        assertEquals(false, append(output.toFile()));
        assertArrayEquals(closed, Files.readAllBytes(output));
        for (String text : new String[] {"", "TGD1", "something else that is longer than a header is"}) {
            Files.write(output, text.getBytes("US-ASCII"));
            assertEquals(false, append(output.toFile()));
            assertEquals(text, new String(Files.readAllBytes(output), "US-ASCII"));
        }
        assertNull(UnfinishedRecording.open(dir.toFile()), "a directory");
    }

    @Test
    void leavesLockedFileAlone() throws Exception {
        byte[] before = recording(false);
        RandomAccessFile held = new RandomAccessFile(output.toFile(), "rw");
        FileLock lock = held.getChannel().tryLock(1L << 40, 1, false);
        assertNotNull(lock);
        assertEquals(false, append(output.toFile()));
        assertArrayEquals(before, Files.readAllBytes(output));
        held.close();
    }

    /** A file full of what looks like the begin of a large chunk is not summed up for ever. */
    @Test
    void stopsAtFalseBeginnings() throws Exception {
        byte[] whole = recording(false);
        byte[] many = Arrays.copyOf(whole, whole.length + (1 << 20));
        for (int at = whole.length; at + 20 <= many.length; at += 20) {
            System.arraycopy("TGCK".getBytes("US-ASCII"), 0, many, at, 4);
            many[at + 9] = (byte) 0x80;
        }
        Files.write(output, many);
        assertEquals(false, append(output.toFile()));
        assertArrayEquals(many, Files.readAllBytes(output));
    }
}
