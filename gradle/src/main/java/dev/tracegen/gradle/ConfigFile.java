package dev.tracegen.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.gradle.api.GradleException;

/** Checks a {@code tracegen.yml}. */
final class ConfigFile {
    /** The options of {@code tracegen.yml} that name files, at the start of a line. */
    private static final Pattern NAMES_FILE = Pattern.compile("^(?:\"|')?(base|base-r8-mapping|r8-mapping|prune"
            + "|blocklist|base-report|classpath|cache|output|mapping|lines|skipped|report|slice|slices|jdk)"
            + "(?:\"|')?\\s*:.*");

    private ConfigFile() {}

    /**
     * Returns the file, and fails if it names another file: Gradle would not see that the other one changes, and would
     * not run the task again.
     */
    static File check(File file) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file.toPath(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new GradleException("Cannot read " + file + ": " + e.getMessage(), e);
        }
        int number = 0;
        for (String line : lines) {
            number++;
            Matcher matcher = NAMES_FILE.matcher(line);
            if (matcher.matches()) {
                throw new GradleException(file + ":" + number + ": `" + matcher.group(1) + "` names a file. Gradle does"
                        + " not see when that file changes. Set it in the build file instead: tracegen { "
                        + property(matcher.group(1)) + " }.");
            }
        }
        return file;
    }

    private static String property(String option) {
        switch (option) {
            case "base": return "base = file('...')";
            case "base-report": return "baseReport = file('...')";
            case "base-r8-mapping": return "baseR8Mapping = file('...')";
            case "prune": return "prune.from('...')";
            case "blocklist": return "blocklist.from('...')";
            case "classpath": return "classpath.from('...')";
            default: return "... }, or remove the line: the plugin sets this option { ";
        }
    }
}
