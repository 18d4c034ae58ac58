package dev.tracegen.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.gradle.api.GradleException;
import org.gradle.api.file.RegularFileProperty;

/**
 * The directory of {@code --reports}. A task copies from it the two files that are its outputs, without absolute paths:
 * they are kept in the build cache, which other machines share.
 */
final class Reports {
    private static final String REPORT = "report.json";
    private static final String SKIPPED = "skipped.tsv";
    /** The list of a report, as tracegen writes it. */
    private static final Pattern LEFT_OUT =
            Pattern.compile("^  \"leftOut\": (\\[\\]|\\[$.*?^  \\])", Pattern.MULTILINE | Pattern.DOTALL);

    /** What a report says of the scope, as tracegen writes it: its name, and how many methods are traced. */
    private static final Pattern SCOPE =
            Pattern.compile("\"scope\": (\"[a-z-]+\"|\\{.*?\\}\\s*\\})", Pattern.DOTALL);

    private final File directory;

    /**
     * Creates the directory. A run that fails early must not leave the files of an earlier run, so these are deleted.
     *
     * @param temporary the directory of the task in which it lies
     */
    Reports(File temporary) {
        directory = new File(temporary, "reports");
        try {
            Files.createDirectories(directory.toPath());
            for (String name : new String[] {REPORT, SKIPPED}) {
                Files.deleteIfExists(new File(directory, name).toPath());
            }
        } catch (IOException e) {
            throw new GradleException("Cannot prepare " + directory + ": " + e.getMessage(), e);
        }
    }

    /** Returns the argument that makes tracegen write there. */
    String argument() {
        return "--reports=" + directory;
    }

    /**
     * Writes the outputs of a task, if the run wrote them.
     *
     * @param names by absolute path, the name to write
     * @param project the directory below which all other paths become relative
     */
    void copy(RegularFileProperty report, RegularFileProperty skipped, Map<String, String> names, File project) {
        copy(REPORT, report, names, project);
        copy(SKIPPED, skipped, names, project);
    }

    private void copy(String name, RegularFileProperty output, Map<String, String> names, File project) {
        File file = new File(directory, name);
        if (!file.isFile()) {
            return;
        }
        boolean json = name.equals(REPORT);
        try {
            String text = new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
            List<String> longestFirst = new ArrayList<>(names.keySet());
            longestFirst.sort((a, b) -> Integer.compare(b.length(), a.length()));
            for (String path : longestFirst) {
                text = replace(text, json, path, names.get(path));
            }
            text = replace(text, json, project.getPath() + File.separator, "");
            Files.write(output.get().getAsFile().toPath(), text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new GradleException("Cannot copy " + file + ": " + e.getMessage(), e);
        }
    }

    /** Returns what a report says of the scope, for comparison with that of another build; "" without a report. */
    static String scope(File report) {
        if (!report.isFile()) {
            return "";
        }
        StringBuilder found = new StringBuilder();
        try {
            Matcher matcher = SCOPE.matcher(new String(Files.readAllBytes(report.toPath()), StandardCharsets.UTF_8));
            while (matcher.find()) {
                found.append(matcher.group(1));
            }
        } catch (IOException e) {
            throw new GradleException("Cannot read " + report + ": " + e.getMessage(), e);
        }
        return found.toString();
    }

    /**
     * Puts the list of entries that a merge has left out into the report of {@code assign}, which does not know them.
     *
     * @param merged the report of the merge
     * @param names by the path of an input of the merge, the name to write
     */
    static void takeLeftOut(File merged, Map<String, String> names, File report) {
        try {
            Matcher list = LEFT_OUT.matcher(new String(Files.readAllBytes(merged.toPath()), StandardCharsets.UTF_8));
            if (!list.find()) {
                throw new GradleException(merged + " does not say which entries were left out.");
            }
            String text = list.group();
            for (Map.Entry<String, String> name : names.entrySet()) {
                text = replace(text, true, name.getKey(), name.getValue());
            }
            String all = new String(Files.readAllBytes(report.toPath()), StandardCharsets.UTF_8);
            all = LEFT_OUT.matcher(all).replaceFirst(Matcher.quoteReplacement(text));
            Files.write(report.toPath(), all.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new GradleException("Cannot write " + report + ": " + e.getMessage(), e);
        }
    }

    private static String replace(String text, boolean json, String from, String to) {
        return json ? text.replace(JsonText.escape(from), JsonText.escape(to)) : text.replace(from, to);
    }
}
