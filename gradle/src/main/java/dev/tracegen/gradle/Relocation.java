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
     * Replaces the names of files in a report or in a list of skipped methods, if it exists.
     *
     * @param names by absolute path, the name to write
     * @param project the directory below which all other paths become relative
     */
    static void shorten(File file, Map<String, String> names, File project) {
        if (!file.isFile()) {
            return;
        }
        boolean json = file.getName().endsWith(".json");
        try {
            String text = new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
            List<String> longestFirst = new ArrayList<>(names.keySet());
            longestFirst.sort((a, b) -> Integer.compare(b.length(), a.length()));
            for (String path : longestFirst) {
                text = replace(text, json, path, names.get(path));
            }
            text = replace(text, json, project.getPath() + File.separator, "");
            Files.write(file.toPath(), text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new GradleException("Cannot shorten the file names in " + file + ": " + e.getMessage(), e);
        }
    }

    private static String replace(String text, boolean json, String from, String to) {
        return json ? text.replace(JsonText.escape(from), JsonText.escape(to)) : text.replace(from, to);
    }
}
