package dev.tracegen.gradle;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

import org.gradle.api.GradleException;
import org.gradle.api.logging.LogLevel;
import org.gradle.api.logging.Logger;
import org.gradle.process.ExecOperations;
import org.gradle.process.ExecResult;

/**
 * Runs the binary. Its warnings are warnings of Gradle, and its summary has the level info, but for the line about the
 * mapping, which is always shown. Gradle ends the process if the build is cancelled.
 */
final class ToolRunner {
    private final ExecOperations exec;
    private final Logger logger;
    private final File executable;
    private final File directory;
    private LogLevel level = LogLevel.INFO;
    private LogLevel warnings = LogLevel.WARN;
    /** The line about the scope that the binary has printed last, "" if there is none. */
    private String scope = "";

    /**
     * Creates a runner.
     *
     * @param directory the working directory, in which no {@code tracegen.yml} may lie, and in which argument files are
     *     written
     */
    ToolRunner(ExecOperations exec, Logger logger, File executable, File directory) {
        this.exec = exec;
        this.logger = logger;
        this.executable = executable;
        this.directory = directory;
    }

    /**
     * Runs a command and throws a GradleException with its messages if it fails.
     *
     * @param subject what the command works on, for the exception: "the classes of main"
     */
    void run(String subject, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(executable.getPath());
        command.addAll(arguments);
        command.add("--log-format=json");
        Messages messages = new Messages(logger, level, warnings);
        Lines out = new Lines(line -> {
            scope = line.startsWith("scope ") ? line : scope;
            messages.summary(line);
        });
        Lines err = new Lines(messages::message);
        ExecResult result;
        try {
            result = exec.exec(spec -> {
                spec.setWorkingDir(directory);
                spec.commandLine(command);
                spec.setStandardOutput(out);
                spec.setErrorOutput(err);
                spec.setIgnoreExitValue(true);
            });
        } catch (RuntimeException e) {
            throw new GradleException("Cannot run " + executable + " (" + rootMessage(e) + "). It must be a tracegen"
                    + " binary for this machine (" + System.getProperty("os.name") + ", "
                    + System.getProperty("os.arch") + "). To use another one, set"
                    + " tracegen { executable = file(\"...\") }.", e);
        }
        out.end();
        err.end();
        String name = "tracegen " + arguments.get(0);
        switch (result.getExitValue()) {
            case 0:
                return;
            case 1:
                throw new GradleException("A guard of " + name + " failed for " + subject + ":\n" + messages.reasons()
                        + "\nAll outputs were written; the report lists the guards.");
            default:
                throw new GradleException(name + " failed for " + subject + " (exit code " + result.getExitValue()
                        + "):\n" + messages.reasons());
        }
    }

    /**
     * Says how much of an app is traced, if that is not as in the last build.
     *
     * @param before what the report of the last build says of the scope
     * @param after what the report of this build says of it
     * @param when when the classes have the size in the line: " before R8", or ""
     */
    void announceScope(String before, String after, String when) {
        if (!scope.isEmpty() && !before.equals(after)) {
            logger.lifecycle(scope + when + ". To trace less or more, write tracegen { scope = \"own\" },"
                    + " \"own-and-libraries\" or \"all\".");
        }
    }

    /** Makes the runner show all of what the binary prints. */
    ToolRunner loud() {
        level = LogLevel.LIFECYCLE;
        return this;
    }

    /** Makes warnings of the binary messages of the level info. */
    ToolRunner quiet() {
        warnings = LogLevel.INFO;
        return this;
    }

    /** Returns the binary. */
    File executable() {
        return executable;
    }

    /** Writes an argument file, and returns the argument for it. */
    String argumentFile(String name, Collection<String> lines) {
        File file = new File(directory, name);
        StringBuilder text = new StringBuilder();
        for (String line : lines) {
            text.append(line).append('\n');
        }
        try {
            Files.createDirectories(directory.toPath());
            Files.write(file.toPath(), text.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new GradleException("Cannot write " + file + ": " + e.getMessage(), e);
        }
        return "@" + file;
    }

    /** Returns the argument that names libraries, also if there are none: then the scope has no effect. */
    String libraries(Iterable<File> files) {
        List<String> paths = new ArrayList<>();
        for (File file : files) {
            if (file.exists()) {
                paths.add(file.getPath());
            }
        }
        return "--libraries=" + (paths.isEmpty() ? "" : argumentFile("libraries.txt", paths));
    }

    /**
     * Scans one jar or directory into a scan file.
     *
     * @param library whether it is a library: the options of a transform name none
     */
    void scan(File part, File scanFile, ScanOptions options, boolean library) {
        List<String> arguments = new ArrayList<>();
        arguments.add("scan");
        // Not an argument file: a transform has no directory for it. The path is absolute, so it is no option.
        arguments.add(part.getPath());
        arguments.add("--output=" + scanFile);
        arguments.add("--quiet");
        arguments.addAll(options.arguments());
        arguments.add(library ? "--libraries=" + part : libraries(options.getLibraries()));
        run(part.getName(), arguments);
    }

    private static String rootMessage(Throwable e) {
        while (e.getCause() != null) {
            e = e.getCause();
        }
        return e.getMessage();
    }

    /** The messages of one run. */
    private static final class Messages {
        private final Logger logger;
        private final LogLevel level;
        private final LogLevel warnings;
        private final List<String> reasons = new ArrayList<>();
        private final List<String> details = new ArrayList<>();

        Messages(Logger logger, LogLevel level, LogLevel warnings) {
            this.logger = logger;
            this.level = level;
            this.warnings = warnings;
        }

        /** Takes a line of the tool's standard output. */
        void summary(String line) {
            logger.log(line.startsWith("mapping: ") ? LogLevel.LIFECYCLE : level, line);
        }

        /** Takes a line of the tool's standard error: a message, or text of the system. */
        void message(String line) {
            String level = JsonText.field(line, "level");
            String text = JsonText.field(line, "message");
            if (text == null) {
                level = "error";
                text = line;
            }
            if ("error".equals(level)) {
                reasons.add(text);
            } else if ("warning".equals(level)) {
                logger.log(warnings, "tracegen: " + text);
            } else {
                logger.info("tracegen: " + text);
                details.add(text);
            }
        }

        /** Returns why the run failed. */
        String reasons() {
            return String.join("\n", reasons.isEmpty() ? details : reasons);
        }
    }

    /** Divides what a process prints into lines of UTF-8. */
    private static final class Lines extends OutputStream {
        private final Consumer<String> sink;
        private final ByteArrayOutputStream line = new ByteArrayOutputStream();

        Lines(Consumer<String> sink) {
            this.sink = sink;
        }

        @Override
        public synchronized void write(int b) {
            if (b == '\n') {
                end();
            } else {
                line.write(b);
            }
        }

        /** Passes on a last line that does not end. */
        synchronized void end() {
            String text = new String(line.toByteArray(), StandardCharsets.UTF_8);
            line.reset();
            if (text.endsWith("\r")) {
                text = text.substring(0, text.length() - 1);
            }
            if (!text.isEmpty()) {
                sink.accept(text);
            }
        }
    }
}
