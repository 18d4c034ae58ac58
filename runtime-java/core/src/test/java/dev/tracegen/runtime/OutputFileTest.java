package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A recorder replaces recordings and nothing else. Every path is below a temporary directory. */
class OutputFileTest {
    private static final byte[] FOREIGN = "TGD is not a recording".getBytes(StandardCharsets.US_ASCII);

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

    private RecordingWriter writer() throws IOException {
        RecordingWriter w = new RecordingWriter(new RecorderOptions().platform(platform).output(output.toFile())
                .limit(1, 3), 0, 1, new Disk());
        w.open();
        return w;
    }

    private String refusal() throws IOException {
        RecordingWriter w;
        try {
            w = writer();
        } catch (IOException e) {
            return e.getMessage();
        }
        w.close();
        return fail(output + " was replaced");
    }

    private static void assertNames(Path dir, String want) {
        String[] names = dir.toFile().list();
        java.util.Arrays.sort(names);
        assertEquals(want, String.join(" ", names));
    }

    private static byte[] recording(String rest) {
        return ("TGD1" + rest).getBytes(StandardCharsets.US_ASCII);
    }

    private static void assertRecording(Path file) throws IOException {
        byte[] data = Files.readAllBytes(file);
        assertEquals("TGD1", new String(data, 0, 4, StandardCharsets.US_ASCII));
        assertTrue(data.length > 32, data.length + " bytes");
    }

    @Test
    void aDirectoryGetsANameInside() throws Exception {
        Files.createDirectory(output);
        Files.write(output.resolve("kept"), FOREIGN);
        writer().close();
        writer().close();
        assertArrayEquals(FOREIGN, Files.readAllBytes(output.resolve("kept")));
        assertNames(dir, "app.tgd");
        assertNames(output, "app.tgd app.tgd.1 kept");
    }

    /** The name in a directory is that of the process on Android, and that of the program on a JVM. */
    @Test
    void theNameInADirectoryIsThatOfTheProgram() {
        String[][] wants = {{"process", "com.example:remote", "com.example_remote"},
            {"process", "../x", "_./x".replace('/', '_')}, {"other", "x", "app"}};
        for (String[] want : wants) {
            assertEquals(want[2], Output.nameOf(new RecorderOptions().meta(want[0], want[1])));
        }
    }

    @Test
    void aForeignFileIsNotReplaced() throws Exception {
        Files.write(output, FOREIGN);
        assertEquals("the output " + output + " is a file that is not a recording (it does not begin with TGD1);"
                + " set the output to a new file or to an earlier recording", refusal());
        assertArrayEquals(FOREIGN, Files.readAllBytes(output));
        assertNames(dir, "app.tgd");
    }

    @Test
    void aFileShorterThanTheMagicIsNotReplaced() throws Exception {
        Files.write(output, new byte[] {'T', 'G', 'D'});
        refusal();
        assertEquals(3, Files.size(output));
        assertNames(dir, "app.tgd");
    }

    private void link(Path to) throws IOException {
        try {
            Files.createSymbolicLink(output, to);
        } catch (UnsupportedOperationException e) {
            Assumptions.abort("no symbolic links: " + e);
        }
    }

    @Test
    void symbolicLinksAreRefusedByTheirTarget() throws Exception {
        link(dir.resolve("missing"));
        assertTrue(refusal().contains("is a symbolic link to nothing"));
        Files.delete(output);

        Path file = Files.write(dir.resolve("file"), FOREIGN);
        link(file);
        assertTrue(refusal().contains("is a file that is not a recording"));
        assertTrue(Files.isSymbolicLink(output));
        assertArrayEquals(FOREIGN, Files.readAllBytes(file));
        assertNames(dir, "app.tgd file");
    }

    @Test
    void anEmptyFileIsWrittenTo() throws Exception {
        Files.createFile(output);
        writer().close();
        assertRecording(output);
        assertNames(dir, "app.tgd");
    }

    @Test
    void recordingsAreShiftedAndTheOldestIsDeleted() throws Exception {
        Files.write(output, recording("new"));
        Files.write(dir.resolve("app.tgd.1"), recording("old"));
        Files.write(dir.resolve("app.tgd.2"), recording("oldest"));
        writer().close();
        assertRecording(output);
        assertArrayEquals(recording("new"), Files.readAllBytes(dir.resolve("app.tgd.1")));
        assertArrayEquals(recording("old"), Files.readAllBytes(dir.resolve("app.tgd.2")));
        assertNames(dir, "app.tgd app.tgd.1 app.tgd.2");
    }

    @Test
    void numbersOfForeignFilesAreSkipped() throws Exception {
        Files.write(output, recording("new"));
        Files.write(dir.resolve("app.tgd.1"), FOREIGN);
        Files.write(dir.resolve("app.tgd.2"), recording("old"));
        Files.createDirectory(dir.resolve("app.tgd.3"));
        Files.write(dir.resolve("app.tgd.4"), recording("oldest"));
        writer().close();
        assertArrayEquals(FOREIGN, Files.readAllBytes(dir.resolve("app.tgd.1")));
        assertArrayEquals(recording("new"), Files.readAllBytes(dir.resolve("app.tgd.2")));
        assertTrue(Files.isDirectory(dir.resolve("app.tgd.3")));
        assertArrayEquals(recording("old"), Files.readAllBytes(dir.resolve("app.tgd.4")));
        assertNames(dir, "app.tgd app.tgd.1 app.tgd.2 app.tgd.3 app.tgd.4");
    }

    /** All files of a run have one number, also if one of them has to skip it. */
    @Test
    void partsOfAnEarlierRunMoveTogether() throws Exception {
        for (String name : "app.part3.tgd app.part4.tgd app.tgd app.part1.tgd.1 app.tgd.1".split(" ")) {
            Files.write(dir.resolve(name), recording(name));
        }
        Files.write(dir.resolve("app.part4.tgd.1"), FOREIGN);
        Files.write(dir.resolve("app.part01.tgd"), recording("is no name of a part"));
        Files.write(dir.resolve("other.tgd"), recording("other"));
        RecordingWriter w = new RecordingWriter(new RecorderOptions().platform(platform).output(output.toFile())
                .limit(1, 6), 0, 1, new Disk());
        w.open();
        w.close();
        assertNames(dir, "app.part01.tgd app.part1.tgd.3 app.part3.tgd.2 app.part4.tgd.1 app.part4.tgd.2 app.tgd"
                + " app.tgd.2 app.tgd.3 other.tgd");
        assertArrayEquals(recording("app.tgd.1"), Files.readAllBytes(dir.resolve("app.tgd.3")));
        assertArrayEquals(FOREIGN, Files.readAllBytes(dir.resolve("app.part4.tgd.1")));
        assertArrayEquals(recording("app.part4.tgd"), Files.readAllBytes(dir.resolve("app.part4.tgd.2")));
    }

    /** The files of the earliest run are deleted first, of one run the first part. */
    @Test
    void theOldestPartsAreDeletedFirst() throws Exception {
        for (String name : "app.part1.tgd app.part2.tgd app.tgd app.tgd.1".split(" ")) {
            Files.write(dir.resolve(name), recording(name));
        }
        writer().close();
        assertNames(dir, "app.part2.tgd.1 app.tgd app.tgd.1");
    }

    /** A process that was killed between two parts leaves no file of the output's name. */
    @Test
    void partsWithoutTheLastOneAreOfAnEarlierRun() throws Exception {
        Files.write(dir.resolve("app.part1.tgd"), recording("first"));
        writer().close();
        assertNames(dir, "app.part1.tgd.1 app.tgd");
    }

    @Test
    void numbersOfPartsThatForeignFilesHaveAreSkipped() throws Exception {
        Files.write(dir.resolve("app.part1.tgd"), FOREIGN);
        RecordingWriter w = writer();
        ThreadTrace main = recorder.threads.main();
        for (int k = 0; k < 4; k++) {
            w.calls.records(main, new RecordCopy(k * 65536L, new java.util.Random(k).longs(65536).toArray(), 0));
        }
        w.close();
        assertArrayEquals(FOREIGN, Files.readAllBytes(dir.resolve("app.part1.tgd")));
        assertNames(dir, "app.part1.tgd app.part4.tgd app.part5.tgd app.tgd");
    }

    @Test
    void nothingIsMovedForAnOutputThatIsRefused() throws Exception {
        Files.write(output, FOREIGN);
        for (String name : "app.part1.tgd app.tgd.1 app.tgd.2 app.tgd.3".split(" ")) {
            Files.write(dir.resolve(name), recording(name));
        }
        refusal();
        assertNames(dir, "app.part1.tgd app.tgd app.tgd.1 app.tgd.2 app.tgd.3");
    }

    @Test
    void anOutputWithoutAnExtensionHasParts() throws Exception {
        output = dir.resolve("recording");
        Files.write(dir.resolve("recording.part1"), recording("first"));
        Files.write(output, recording("last"));
        writer().close();
        assertNames(dir, "recording recording.1 recording.part1.1");
    }

    @Test
    void aDanglingLinkIsAForeignFile() throws Exception {
        Files.write(output, recording("new"));
        try {
            Files.createSymbolicLink(dir.resolve("app.tgd.1"), dir.resolve("missing"));
        } catch (UnsupportedOperationException e) {
            Assumptions.abort("no symbolic links: " + e);
        }
        writer().close();
        assertTrue(Files.isSymbolicLink(dir.resolve("app.tgd.1")));
        assertArrayEquals(recording("new"), Files.readAllBytes(dir.resolve("app.tgd.2")));
        assertFalse(Files.exists(dir.resolve("missing"), LinkOption.NOFOLLOW_LINKS));
    }

    @Test
    void theProgramRunsOnUnrecorded() throws Exception {
        Files.write(output, FOREIGN);
        recorder.stop();
        recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024).output(output.toFile())
                .everyRecord(true));
        AppMethodBeat.i(1);
        AppMethodBeat.o(1);
        assertEquals(2, recorder.threads.main().copy(0, 9).records.length);
        Await.stop(recorder);
        assertEquals("no recording is written, and the program runs on: the output " + output
                + " is a file that is not a recording (it does not begin with TGD1); set the output to a new file or"
                + " to an earlier recording\n", platform.logged);
        assertArrayEquals(FOREIGN, Files.readAllBytes(output));
        assertNames(dir, "app.tgd");
    }

    @Test
    void theRecordingEndsIfTheNextFileIsRefused() throws Exception {
        recorder.stop();
        recorder = Recorder.start(new RecorderOptions().platform(platform).ringRecords(1024).output(output.toFile())
                .everyRecord(true).limit(1, 3));
        Await.until("the recording has begun", () -> Files.exists(output) && Files.size(output) > 0);
        File moved = dir.resolve("moved").toFile();
        assertTrue(output.toFile().renameTo(moved));
        Files.createDirectory(output);
        java.util.Random random = new java.util.Random(1);
        ThreadTrace main = recorder.threads.main();
        main.ring();
        Await.until("the recording ends", () -> {
            // No more than the ring holds, which may grow, however late they are written.
            for (int k = 0; k < 500 && main.existingRing().sequence() - main.existingRing().copied() < 500; k++) {
                AppMethodBeat.i(1 + random.nextInt(1 << 19));
                platform.pass(random.nextInt(1 << 19));
            }
            return !platform.logged.isEmpty();
        });
        Await.stop(recorder);
        assertEquals("the recording ends here, and the program runs on: the output " + output
                + " is a directory; set the output to a new file or to an earlier recording\n", platform.logged);
        assertRecording(moved.toPath());
        assertNames(dir, "app.tgd moved");
        assertNames(output, "");
    }
}
