package dev.tracegen.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.gradle.api.GradleException;

/** Removes absolute paths from files that are kept in the build cache, which other machines share. */
final class Relocation {
    private Relocation() {}

    /**
     * Replaces the names of files in a JSON file, if it exists.
     *
     * @param names by absolute path, the name to write
     * @param project the directory below which all other paths become relative
     */
    static void shorten(File json, Map<String, String> names, File project) {
        if (!json.isFile()) {
            return;
        }
        try {
            String text = new String(Files.readAllBytes(json.toPath()), StandardCharsets.UTF_8);
            List<String> longestFirst = new ArrayList<>(names.keySet());
            longestFirst.sort((a, b) -> Integer.compare(b.length(), a.length()));
            for (String path : longestFirst) {
                text = text.replace("\"" + JsonText.escape(path), "\"" + JsonText.escape(names.get(path)));
            }
            text = text.replace("\"" + JsonText.escape(project.getPath() + File.separator), "\"");
            Files.write(json.toPath(), text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new GradleException("Cannot shorten the file names in " + json + ": " + e.getMessage(), e);
        }
    }
}
