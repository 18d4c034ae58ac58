package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several processes with one output, and which of their files are kept. */
class SharedOutputTest {
    @TempDir
    Path dir;

    private final VirtualPlatform platform = new VirtualPlatform();

    private RecorderOptions options() {
        return new RecorderOptions().platform(platform).output(dir.resolve("app.tgd").toFile());
    }

    private RecordingWriter open(RecorderOptions options) throws IOException {
        RecordingWriter w = new RecordingWriter(options, 0);
        assertTrue(w.open());
        return w;
    }

    private String names() {
        String[] names = dir.toFile().list();
        for (int k = 0; k < names.length; k++) {
            names[k] = names[k].replace(".pid" + ProcessNumber.get(), ".pidOURS").replaceAll("pid[0-9]+", "pidN");
        }
        Arrays.sort(names);
        return String.join(" ", names);
    }

    private void write(String name, int size, long ageMillis) throws IOException {
        byte[] bytes = Arrays.copyOf("TGD1".getBytes(StandardCharsets.US_ASCII), size);
        Files.write(dir.resolve(name), bytes);
        assertTrue(dir.resolve(name).toFile().setLastModified(platform.wallMillis() - ageMillis));
    }

    @Test
    void aSecondProcessHasFilesOfItsOwn() throws Exception {
        File output = options().output;
        try (OtherProcess other = new OtherProcess(output)) {
            assertEquals("true ", other.said);
            byte[] before = Files.readAllBytes(output.toPath());
            RecordingWriter w = open(options());
            assertEquals("app.pidOURS.tgd app.tgd", names());
            assertEquals(output + " is written by another process; this one is recorded into "
                    + dir.resolve("app.pid" + ProcessNumber.get() + ".tgd") + "\n", platform.logged);
            assertArrayEquals(before, Files.readAllBytes(output.toPath()));
            w.close();
        }
        // The file of the process that has ended is an earlier one now.
        open(options()).close();
        assertEquals("app.pidOURS.tgd app.tgd app.tgd.1", names());
    }

    /** A lock ends with its process, however that ends. */
    @Test
    void aKilledProcessHoldsNoFile() throws Exception {
        try (OtherProcess other = new OtherProcess(options().output)) {
            other.kill();
        }
        open(options()).close();
        assertEquals("app.tgd app.tgd.1", names());
    }

    @Test
    void threeProcessesHaveThreeFiles() throws Exception {
        try (OtherProcess first = new OtherProcess(options().output);
                OtherProcess second = new OtherProcess(options().output)) {
            assertTrue(second.said.contains("is written by another process"), second.said);
            open(options()).close();
            assertEquals("app.pidN.tgd app.pidOURS.tgd app.tgd", names());
            assertEquals("true ", first.said);
        }
    }

    /** Two recorders of one process do not share a file either. */
    @Test
    void twoRecordersOfAProcessHaveTwoFiles() throws Exception {
        RecordingWriter a = open(options());
        RecordingWriter b = open(options());
        RecordingWriter c = open(options());
        assertEquals("app.pidOURS-2.tgd app.pidOURS.tgd app.tgd", names());
        a.close();
        b.close();
        c.close();
    }

    /** The parts of a living process stay, whatever the limits of another one are. */
    @Test
    void filesOfALivingProcessAreNotDeleted() throws Exception {
        try (OtherProcess other = new OtherProcess(options().output)) {
            write("app.part1.tgd", 100, 9000000);
            write("app.tgd.1", 100, 9000000);
            write("app.pid1.tgd", 100, 8000000);
            write("app.pid1.part1.tgd", 100, 9000000);
            open(options().limit(1 << 16, 1)).close();
            assertEquals("app.part1.tgd app.pidOURS.tgd app.tgd app.tgd.1", names());
            assertEquals("true ", other.said);
        }
        open(options().limit(1 << 16, 1)).close();
        assertEquals("app.tgd", names());
    }

    @Test
    void theSpaceOfAllRecordingsIsLimited() throws Exception {
        write("app.tgd", 200000, 1000);
        write("app.tgd.1", 200000, 2000);
        write("app.pid1.tgd", 200000, 3000);
        write("app.tgd.2", 200000, 4000);
        write("other.tgd", 200000, 5000);
        // One file may take a quarter, so three quarters remain for those before it.
        open(options().limit(1 << 30, 100).keep(800000, 0)).close();
        assertEquals("app.pidN.tgd app.tgd app.tgd.1 app.tgd.2 other.tgd", names());
        assertEquals(200000, Files.size(dir.resolve("app.tgd.2")));
        open(options().limit(1 << 30, 100).keep(400000, 0)).close();
        assertEquals("app.tgd app.tgd.1 app.tgd.2 other.tgd", names());
    }

    @Test
    void oldRecordingsAreDeletedAlsoIfNothingIsWritten() throws Exception {
        write("app.tgd", 100, 86400000L);
        write("app.tgd.1", 100, 8 * 86400000L);
        write("app.pid7.tgd", 100, 9 * 86400000L);
        new RecordingWriter(options().keep(0, 7), 0).close();
        assertEquals("app.tgd", names());
    }

    /** A process that restarts again and again without a stall pushes nothing out. */
    @Test
    void startsWithoutAStallChangeNothing() throws Exception {
        write("app.tgd", 100, 1000);
        write("app.tgd.1", 100, 2000);
        for (int k = 0; k < 20; k++) {
            Recorder r = Recorder.start(options().limit(1 << 16, 2).keep(1 << 20, 7).ringRecords(1024));
            r.thread(Thread.currentThread()).messageBegin("a.B: 1");
            r.thread(Thread.currentThread()).messageEnd();
            Await.stop(r);
        }
        assertEquals("app.tgd app.tgd.1", names());
        assertEquals(100, Files.size(dir.resolve("app.tgd")));
    }

    @Test
    void finishedRecordingsAreListedAndDelivered() throws Exception {
        Recordings recordings = Recordings.of(dir.toFile());
        write("app.tgd.1", 100, 2000);
        write("app.pid7.tgd", 100, 3000);
        Files.write(dir.resolve("notes.txt"), "TGD is no recording".getBytes(StandardCharsets.US_ASCII));
        Files.createDirectory(dir.resolve("directory"));
        try (OtherProcess other = new OtherProcess(options().output)) {
            RecordingWriter ours = open(options());
            List<String> names = new ArrayList<String>();
            for (File f : recordings.finished()) {
                names.add(f.getName());
            }
            assertEquals("[app.pid7.tgd, app.tgd.1]", names.toString());
            assertFalse(recordings.delivered(options().output), "a file that another process writes");
            File ourFile = dir.resolve("app.pid" + ProcessNumber.get() + ".tgd").toFile();
            assertFalse(recordings.delivered(ourFile), "our file");
            assertFalse(recordings.delivered(dir.resolve("notes.txt").toFile()));
            assertFalse(recordings.delivered(dir.resolve("../app.tgd.1").toFile()));
            assertTrue(recordings.delivered(dir.resolve("app.tgd.1").toFile()));
            assertFalse(recordings.delivered(dir.resolve("app.tgd.1").toFile()), "a second time");
            assertEquals("true ", other.said);
            // Listing does not end the lock of our file.
            try (OtherProcess third = new OtherProcess(ourFile)) {
                assertTrue(third.said.contains("is written by another process"), third.said);
            }
            ours.close();
        }
        assertEquals(0, Recordings.of(dir.resolve("missing").toFile()).finished().size());
    }
}
