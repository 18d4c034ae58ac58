package dev.tracegen.gradle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PartKeyTest {
    @TempDir
    Path directory;

    /** Writes a jar of names and contents, in turns. */
    private File jar(String name, long time, String... entries) throws IOException {
        Path path = directory.resolve(name);
        try (OutputStream out = Files.newOutputStream(path); ZipOutputStream zip = new ZipOutputStream(out)) {
            for (int i = 0; i < entries.length; i += 2) {
                ZipEntry entry = new ZipEntry(entries[i]);
                entry.setTime(time);
                zip.putNextEntry(entry);
                zip.write(entries[i + 1].getBytes("UTF-8"));
                zip.closeEntry();
            }
        }
        return path.toFile();
    }

    @Test
    void orderTimesAndResourcesDoNotCount() throws IOException {
        String key = PartKey.of(jar("a.jar", 1_600_000_000_000L, "a/A.class", "A", "b/B.class", "B", "x.txt", "x"));
        File other = jar("b.jar", 1_700_000_000_000L, "b/B.class", "B", "x.txt", "y", "a/A.class", "A");
        assertEquals(key, PartKey.of(other));
        assertNotEquals(key, PartKey.of(jar("c.jar", 0, "a/A.class", "A2", "b/B.class", "B", "x.txt", "x")));
        assertNotEquals(key, PartKey.of(jar("d.jar", 0, "a/C.class", "A", "b/B.class", "B", "x.txt", "x")));
        assertNotEquals(key, PartKey.of(jar("e.jar", 0, "a/A.class", "A", "b/B.class", "B", "libs/c.jar", "x")));
    }

    @Test
    void allEntriesCountWithoutTheirTimes() throws IOException {
        String all = PartKey.ofAll(jar("a.jar", 1_600_000_000_000L, "a/A.class", "A", "x.txt", "x"));
        assertEquals(all, PartKey.ofAll(jar("b.jar", 1_700_000_000_000L, "a/A.class", "A", "x.txt", "x")));
        assertNotEquals(all, PartKey.ofAll(jar("c.jar", 0, "a/A.class", "A", "x.txt", "y")));
    }

    @Test
    void aDirectoryHasTheKeyOfItsJar() throws IOException {
        Path classes = directory.resolve("classes");
        Files.createDirectories(classes.resolve("a"));
        Files.write(classes.resolve("a/A.class"), "A".getBytes("UTF-8"));
        assertEquals(PartKey.of(jar("a.jar", 0, "a/A.class", "A")), PartKey.of(classes.toFile()));
    }

    @Test
    void namesOfFiles() throws IOException {
        File jar = jar("my-lib-1.2.jar", 0, "a/A.class", "A");
        String stem = PartKey.stem(jar);
        assertTrue(stem.startsWith("my-lib-1.2-"), stem);
        assertEquals(PartKey.of(jar), PartKey.ofName(new File(stem + ".slice")));
    }
}
