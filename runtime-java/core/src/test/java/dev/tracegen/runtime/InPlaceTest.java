package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pipes and devices are written in place. The pipes and devices here are below a temporary directory. */
class InPlaceTest {
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

    private void make(String... command) throws Exception {
        try {
            int code = new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
            Assumptions.assumeTrue(code == 0, String.join(" ", command) + " is not permitted");
        } catch (IOException e) {
            Assumptions.abort("no " + command[0] + ": " + e);
        }
    }

    private RecorderOptions options() {
        return new RecorderOptions().platform(platform).output(output.toFile()).limit(1, 1).everyRecord(true);
    }

    private ThreadTrace trace() {
        return new ThreadTrace(recorder, new Thread("t"), 1, false, true);
    }

    private void assertInPlace() throws Exception {
        assertTrue(Files.readAttributes(output, BasicFileAttributes.class).isOther(), output + " was replaced");
        String[] names = dir.toFile().list();
        Arrays.sort(names);
        assertEquals("app.tgd", String.join(" ", names).replace(" copy", ""));
    }

    /** Copies what arrives in the pipe to a file, and ends after so many bytes. */
    private Thread reader(final Path copy, final int most) {
        Thread t = new Thread(() -> {
            try (FileInputStream in = new FileInputStream(output.toFile());
                    java.io.OutputStream out = Files.newOutputStream(copy)) {
                byte[] some = new byte[512];
                int total = 0;
                for (int n = in.read(some); n >= 0; n = in.read(some)) {
                    out.write(some, 0, n);
                    total += n;
                    if (total >= most) {
                        return;
                    }
                }
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }, "reader");
        t.setDaemon(true);
        t.start();
        return t;
    }

    @Test
    void aPipeGetsTheWholeRecording() throws Exception {
        make("mkfifo", output.toString());
        Path copy = dir.resolve("copy");
        Thread reader = reader(copy, Integer.MAX_VALUE);
        RecordingWriter w = new RecordingWriter(options(), 0, 1, new Disk());
        ThreadTrace t = trace();
        // More than the size at which a file would be closed.
        for (int k = 0; k < 20; k++) {
            long[] records = new java.util.Random(k).longs(10000).toArray();
            assertTrue(w.calls.records(t, new RecordCopy(k * 10000, records, 0)));
        }
        w.close();
        reader.join();
        assertTrue(Files.size(copy) > 100000, Files.size(copy) + " bytes");
        assertEquals(20, WrittenChunks.of(copy, RecordingWriter.RECORDS).size());
        assertEquals(1, WrittenChunks.of(copy, RecordingWriter.END).size());
        assertInPlace();
    }

    /** If the reader leaves, nothing happens to the app. The next reader gets the next part, from its begin. */
    @Test
    void aReaderMayLeave() throws Exception {
        make("mkfifo", output.toString());
        Path copy = dir.resolve("copy");
        Thread first = reader(copy, 1);
        RecordingWriter w = new RecordingWriter(options(), 0, 1, new Disk());
        ThreadTrace t = trace();
        w.open();
        first.join();
        int written = 0;
        while (w.calls.records(t, new RecordCopy(written, new long[] {Ring.ENTRY | 1L << Ring.ID_SHIFT}, 0))) {
            written++;
        }
        assertTrue(platform.logged.startsWith("the recording cannot be written, and the program runs on; it is tried"
                + " again: "), platform.logged);
        platform.pass(1000);
        Thread second = reader(copy, Integer.MAX_VALUE);
        assertTrue(w.calls.records(t, new RecordCopy(written + 1, new long[] {Ring.ENTRY | 2L << Ring.ID_SHIFT}, 0)));
        w.close();
        second.join();
        List<WrittenChunks.Chunk> all = WrittenChunks.of(copy, 0);
        StringBuilder types = new StringBuilder();
        for (WrittenChunks.Chunk c : all) {
            types.append(c.type).append(' ');
        }
        assertEquals("1 2 19 3 5 11 ", types.toString());
        assertEquals("!1 #" + (written + 1) + " +2", WrittenChunks.records(copy, 1));
        assertInPlace();
    }

    /** A pipe without a reader blocks a thread of the recorder, and neither the app nor its end. */
    @Test
    void aPipeWithoutAReaderBlocksNothing() throws Exception {
        make("mkfifo", output.toString());
        recorder.stop();
        recorder = Recorder.start(options().ringRecords(1024));
        for (int k = 0; k < 100000; k++) {
            AppMethodBeat.i(1);
            AppMethodBeat.o(1);
        }
        recorder.stop();
        long begin = System.nanoTime();
        recorder.awaitEnd(600000);
        assertTrue(System.nanoTime() - begin < 300000000000L, "it was waited for a reader that does not come");
        assertEquals("", platform.logged);
        assertInPlace();
        // The thread ends when a reader comes.
        reader(dir.resolve("copy"), Integer.MAX_VALUE).join();
        Await.stop(recorder);
    }

    @Test
    void aDeviceIsWrittenInPlace() throws Exception {
        make("mknod", output.toString(), "c", "1", "3");
        RecordingWriter w;
        try {
            w = new RecordingWriter(options(), 0, 1, new Disk());
            Assumptions.assumeTrue(w.open(), "devices cannot be opened here: " + platform.logged);
        } finally {
            assertInPlace();
        }
        assertTrue(w.calls.records(trace(), new RecordCopy(0, new long[1000], 0)));
        w.close();
        assertEquals("", platform.logged);
        assertInPlace();
    }

    @Test
    void aFullDeviceIsTriedAgain() throws Exception {
        make("mknod", output.toString(), "c", "1", "7");
        RecordingWriter w = new RecordingWriter(options(), 0, 1, new Disk());
        for (int k = 0; k < 3; k++) {
            assertFalse(w.calls.records(trace(), new RecordCopy(0, new long[1000], 0)));
            platform.pass(61000);
        }
        w.close();
        String[] lines = platform.logged.split("\n");
        assertEquals(2, lines.length, platform.logged);
        assertTrue(lines[0].startsWith("the recording cannot be written"), lines[0]);
        assertEquals("the recording is incomplete; chunks that could not be written: 3", lines[1]);
        assertInPlace();
    }
}
