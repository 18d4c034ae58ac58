package dev.tracegen.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.gradle.api.GradleException;
import org.gradle.api.Transformer;
import org.gradle.api.file.RegularFile;

/**
 * Finds the names of other files in a {@code tracegen.yml}. Gradle must see when these files change: profiles and those
 * that are included are inputs, and those that other options name are refused. The plugin does not need to understand
 * all of YAML: tracegen reports what is wrong with the file.
 */
final class ConfigFile {
    /** The options of {@code tracegen.yml} that name files, at the start of a line. */
    private static final Pattern NAMES_FILE = Pattern.compile("^[\"']?(base|r8-mapping|prune|blocklist"
            + "|classpath|cache|output|mapping|lines|skipped|report|slice|slices|jdk)[\"']?\\s*:.*");
    private static final Pattern INCLUDE = Pattern.compile("^[\"']?(?:include|profile)[\"']?\\s*:(.*)");
    private static final Pattern ITEM = Pattern.compile("^\\s*-\\s+(.*)");

    private ConfigFile() {}

    /** Returns the file, and fails if one of its options names another file. */
    static File check(File file) {
        int number = 0;
        for (String line : lines(file)) {
            number++;
            Matcher matcher = NAMES_FILE.matcher(line);
            if (matcher.matches()) {
                throw new GradleException(file + ":" + number + ": `" + matcher.group(1) + "` names a file. Gradle does"
                        + " not see when that file changes. " + instead(matcher.group(1)));
            }
        }
        return file;
    }

    /** Returns whether a file sets an option. */
    static boolean sets(File file, String option) {
        Pattern key = Pattern.compile("^[\"']?" + Pattern.quote(option) + "[\"']?\\s*:.*");
        return lines(file).stream().anyMatch(line -> key.matcher(line).matches());
    }

    private static String instead(String option) {
        switch (option) {
            case "base": return "Set it in the build file: tracegen { base = file(\"...\") }.";
            case "prune": return "Set it in the build file: tracegen { prune.from(\"...\") }.";
            case "blocklist": return "Set it in the build file: tracegen { blocklist.from(\"...\") }.";
            case "classpath": return "Set it in the build file: tracegen { classpath.from(\"...\") }.";
            default: return "Remove the line: the plugin sets this option.";
        }
    }

    /** Returns the profiles that a file names, the files that it includes, and those that they include. */
    static Set<File> includes(File file) {
        Set<File> found = new LinkedHashSet<>();
        addIncludes(file, found);
        return found;
    }

    private static void addIncludes(File file, Set<File> found) {
        if (!file.isFile()) {
            return;
        }
        List<String> names = new ArrayList<>();
        boolean inside = false;
        for (String line : lines(file)) {
            Matcher include = INCLUDE.matcher(line);
            Matcher item = ITEM.matcher(line);
            if (include.matches()) {
                inside = true;
                String value = text(include.group(1));
                if (value.startsWith("[") && value.endsWith("]")) {
                    value = value.substring(1, value.length() - 1);
                }
                for (String name : value.split(",")) {
                    names.add(text(name));
                }
            } else if (inside && item.matches()) {
                names.add(text(item.group(1)));
            } else if (!line.trim().isEmpty() && !line.trim().startsWith("#")) {
                inside = false;
            }
        }
        for (String name : names) {
            if (!name.isEmpty()) {
                File other = new File(name).isAbsolute() ? new File(name) : new File(file.getParentFile(), name);
                if (found.add(other)) {
                    addIncludes(other, found);
                }
            }
        }
    }

    /** Returns a value without its comment, quotes and spaces. */
    private static String text(String value) {
        String text = value.replaceAll("(^|\\s)#.*$", "").trim();
        if (text.length() >= 2 && (text.startsWith("\"") && text.endsWith("\"")
                || text.startsWith("'") && text.endsWith("'"))) {
            text = text.substring(1, text.length() - 1);
        }
        return text;
    }

    private static List<String> lines(File file) {
        try {
            return Files.readAllLines(file.toPath(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new GradleException("Cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    /** Returns the included files. It is no lambda, so that the configuration cache can keep it. */
    static final class Includes implements Transformer<Set<File>, RegularFile> {
        @Override
        public Set<File> transform(RegularFile file) {
            return includes(file.getAsFile());
        }
    }
}
