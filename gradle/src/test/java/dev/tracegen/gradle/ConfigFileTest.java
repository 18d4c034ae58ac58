package dev.tracegen.gradle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

import org.gradle.api.GradleException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigFileTest {
    @TempDir
    Path directory;

    private File write(String name, String... lines) throws IOException {
        return Files.write(directory.resolve(name), Arrays.asList(lines), StandardCharsets.UTF_8).toFile();
    }

    private Set<File> files(String... names) {
        Set<File> files = new HashSet<>();
        for (String name : names) {
            files.add(directory.resolve(name).toFile());
        }
        return files;
    }

    @Test
    void includesAreFoundInEachFormOfYaml() throws IOException {
        assertEquals(files("a.yml"), ConfigFile.includes(write("1.yml", "include: a.yml")));
        assertEquals(files("a.yml"), ConfigFile.includes(write("2.yml", "\"include\": 'a.yml' # a comment")));
        assertEquals(files("p.txt"), ConfigFile.includes(write("2.yml", "profile: p.txt", "exits: exact")));
        assertEquals(files("a.yml", "b c.yml"), ConfigFile.includes(write("3.yml", "include: [ a.yml, \"b c.yml\" ]")));
        assertEquals(files("a.yml", "b.yml"), ConfigFile.includes(write("4.yml", "include:", "  - a.yml", "",
                "# a comment", "- b.yml", "rules:", "  - block: x.yml")));
        assertEquals(files(), ConfigFile.includes(write("5.yml", "rules:", "  - block: a")));
        assertEquals(files(), ConfigFile.includes(directory.resolve("none.yml").toFile()));
    }

    @Test
    void includedFilesIncludeOthersAndThemselves() throws IOException {
        write("a.yml", "include: b.yml");
        write("b.yml", "include: [a.yml, c.yml]");
        assertEquals(files("a.yml", "b.yml", "c.yml"), ConfigFile.includes(write("t.yml", "include: a.yml")));
    }

    @Test
    void optionsThatNameFilesAreRefused() throws IOException {
        File file = write("t.yml", "exits: exact", "base: old.txt");
        String message = assertThrows(GradleException.class, () -> ConfigFile.check(file)).getMessage();
        assertTrue(message.contains("t.yml:2: `base` names a file"), message);
        assertTrue(message.contains("tracegen { base = file(\"...\") }"), message);
        File other = write("u.yml", "cache : /tmp/x");
        assertTrue(assertThrows(GradleException.class, () -> ConfigFile.check(other)).getMessage()
                .contains("Remove the line"));
        // Names inside rules are no options, nor are other keys that begin alike.
        File good = write("v.yml", "rules:", "  - block: base", "  base: 1", "#base: x");
        assertEquals(good, ConfigFile.check(good));
    }

    @Test
    void optionsThatAreSet() throws IOException {
        File file = write("t.yml", "'exits' : normal", "rules:", "  target: x");
        assertTrue(ConfigFile.sets(file, "exits"));
        assertFalse(ConfigFile.sets(file, "target"));
        assertFalse(ConfigFile.sets(file, "exit"));
    }
}
