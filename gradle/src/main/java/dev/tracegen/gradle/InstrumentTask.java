package dev.tracegen.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.gradle.api.file.Directory;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.Property;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.Nested;
import org.gradle.api.tasks.Optional;
import org.gradle.api.tasks.OutputFile;
import org.gradle.work.DisableCachingByDefault;

/**
 * Instruments everything by one run of {@code tracegen instrument}. Subclasses have the inputs and the outputs, and
 * call {@link #instrument}.
 */
@DisableCachingByDefault(because = "Subclasses decide.")
public abstract class InstrumentTask extends TracegenTask {
    /**
     * The options that decide about classes one by one.
     *
     * @return the options
     */
    @Nested
    public abstract ScanOptions getScanOptions();

    /**
     * The options that need the whole.
     *
     * @return the options
     */
    @Nested
    public abstract AssignOptions getAssignOptions();

    /**
     * How entries that change are compressed.
     *
     * @return the property
     */
    @Input
    @Optional
    public abstract Property<String> getCompression();

    /**
     * Whether the inputs are copied unchanged, with an empty mapping.
     *
     * @return the property
     */
    @Input
    @Optional
    public abstract Property<Boolean> getDisabled();

    /**
     * The method mapping that is written.
     *
     * @return the file
     */
    @OutputFile
    public abstract RegularFileProperty getMapping();

    /**
     * The report that is written, as JSON.
     *
     * @return the file
     */
    @OutputFile
    public abstract RegularFileProperty getReport();

    /**
     * The table of skipped methods with their reasons that is written.
     *
     * @return the file
     */
    @OutputFile
    public abstract RegularFileProperty getSkipped();

    /** Takes the values of a variant, and writes below a directory. */
    void from(TracegenOptions options, Provider<Directory> directory) {
        getScanOptions().from(options);
        getAssignOptions().from(options);
        getCompression().set(options.getCompression());
        getMapping().set(directory.map(d -> d.file("methodMapping.txt")));
        getReport().set(directory.map(d -> d.file("report.json")));
        getSkipped().set(directory.map(d -> d.file("skipped.tsv")));
        getProjectDirectory().set(getProject().getRootDir());
    }

    /**
     * Runs {@code tracegen instrument}.
     *
     * @param subject what is instrumented, for messages: "the class path of main"
     * @param inputs the paths of existing jars and directories, in the order of the class path, each with the path of
     *     its output, or with "" if {@code output} names that of all
     * @param output further arguments, which name the output if the inputs do not: {@code --output=...},
     *     {@code --merge}
     */
    protected void instrument(String subject, Map<String, String> inputs, List<String> output) {
        List<String> arguments = new ArrayList<>();
        ToolRunner runner = runner();
        Reports reports = new Reports(getTemporaryDir());
        List<String> lines = new ArrayList<>();
        Map<String, String> names = new LinkedHashMap<>();
        inputs.forEach((from, to) -> {
            lines.add(to.isEmpty() ? from : from + "=" + to);
            names.put(from, new File(from).getName());
        });
        arguments.add("instrument");
        arguments.add(runner.argumentFile("inputs.txt", lines));
        arguments.addAll(output);
        arguments.add("--mapping=" + getMapping().get());
        arguments.add(reports.argument());
        Flags.add(arguments, "--compression", getCompression());
        if (getDisabled().getOrElse(false)) {
            arguments.add("--disabled");
        }
        arguments.addAll(getScanOptions().arguments());
        arguments.add(runner.libraries(getScanOptions().getLibraries()));
        arguments.addAll(getAssignOptions().instrument());
        File report = getReport().get().getAsFile();
        String scope = Reports.scope(report);
        try {
            runner.run(subject, arguments);
        } finally {
            // Also a build that a guard fails has a report.
            reports.copy(getReport(), getSkipped(), names, getProjectDirectory().get());
            runner.announceScope(scope, Reports.scope(report), getScanOptions().forAndroid() ? " before R8" : "");
        }
    }

    /**
     * Runs {@code tracegen instrument} with one output.
     *
     * @param subject what is instrumented, for messages
     * @param inputs existing jars and directories, in the order of the class path
     * @param output the arguments that name the output: {@code --output=...}, perhaps {@code --merge}
     */
    protected void instrument(String subject, Collection<File> inputs, List<String> output) {
        Map<String, String> paths = new LinkedHashMap<>();
        inputs.forEach(input -> paths.put(input.getPath(), ""));
        instrument(subject, paths, output);
    }

    /** The directory to which file names in reports are relative. */
    @Internal
    abstract Property<File> getProjectDirectory();
}
