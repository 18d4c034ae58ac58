package dev.tracegen.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.gradle.api.GradleException;

/** The files of an instrumented class path in one directory. */
final class Layout {
    /** The file beside the jars that lists them in the order of the class path. */
    static final String LIST = "classpath.txt";
    /** The name of the built-in runtime's jar. */
    static final String RUNTIME = "tracegen-runtime.jar";

    private Layout() {}

    /**
     * Returns a name for the output of each existing file: its own, or with -2, -3 and so on if an earlier file has
     * the same name.
     */
    static Map<File, String> names(Iterable<File> files) {
        Map<File, String> names = new LinkedHashMap<>();
        Set<String> taken = new HashSet<>();
        taken.add(LIST);
        for (File file : files) {
            if (!file.exists() || names.containsKey(file)) {
                continue;
            }
            String name = file.getName();
            int dot = file.isFile() ? name.lastIndexOf('.') : -1;
            String stem = dot < 0 ? name : name.substring(0, dot);
            String extension = dot < 0 ? "" : name.substring(dot);
            // Some file systems do not distinguish letters by their case.
            for (int i = 2; !taken.add(name.toLowerCase(Locale.ROOT)); i++) {
                name = stem + "-" + i + extension;
            }
            names.put(file, name);
        }
        return names;
    }

    /** Returns whether tracegen reads the file: other files of a class path are copied. */
    static boolean isPart(File file) {
        String name = file.getName().toLowerCase(Locale.ROOT);
        return file.isDirectory() || name.endsWith(".jar") || name.endsWith(".zip");
    }

    /** Writes the list of a directory's files. */
    static void write(File directory, Iterable<String> names) {
        File list = new File(directory, LIST);
        try {
            Files.createDirectories(directory.toPath());
            Files.write(list.toPath(), (String.join("\n", names) + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new GradleException("Cannot write " + list + ": " + e.getMessage(), e);
        }
    }

    /** Returns the class path that a directory holds. */
    static List<File> read(File directory) {
        List<File> files = new ArrayList<>();
        try {
            for (String name : Files.readAllLines(new File(directory, LIST).toPath(), StandardCharsets.UTF_8)) {
                files.add(new File(directory, name));
            }
        } catch (IOException e) {
            throw new GradleException("Cannot read the list of the instrumented class path: " + e.getMessage(), e);
        }
        return files;
    }

    static void copy(File from, File to) {
        try {
            Files.createDirectories(to.getParentFile().toPath());
            Files.copy(from.toPath(), to.toPath(), StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new GradleException("Cannot copy " + from + " to " + to + ": " + e.getMessage(), e);
        }
    }
}
