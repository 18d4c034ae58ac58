package dev.tracegen.gradle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

import org.gradle.api.GradleException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GrowthTest {
    @TempDir
    Path directory;

    /** Writes a jar with a class of some bytes and a resource. */
    private File jar(String name, int bytes) throws IOException {
        Path path = directory.resolve(name);
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(path))) {
            zip.putNextEntry(new ZipEntry("a/A.class"));
            zip.write(new byte[bytes]);
            zip.putNextEntry(new ZipEntry("a/resource"));
            zip.write(new byte[12345]);
            zip.closeEntry();
        }
        return path.toFile();
    }

    private File classes(String name, int bytes) throws IOException {
        Path path = directory.resolve(name);
        Files.createDirectories(path.resolve("b"));
        Files.write(path.resolve("b/B.class"), new byte[bytes]);
        return path.toFile();
    }

    @Test
    void allPartsAreAddedUp() throws IOException {
        List<File> inputs = Arrays.asList(jar("a.jar", 100), classes("classes", 100));
        List<File> outputs = Arrays.asList(jar("a2.jar", 119), jar("b2.jar", 101));
        Growth.check(10, inputs, outputs);
        Growth.check(Double.POSITIVE_INFINITY, inputs, outputs);
        Growth.check(0, Collections.emptyList(), Collections.emptyList());
        String message = assertThrows(GradleException.class, () -> Growth.check(9.9, inputs, outputs)).getMessage();
        assertEquals("tracegen: growth: the classes grow from 200 to 220 bytes, by 10.00 %; expected: at most 9.9 %."
                + " All outputs were written.", message);
    }
}
