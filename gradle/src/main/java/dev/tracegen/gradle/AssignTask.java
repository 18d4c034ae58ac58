package dev.tracegen.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import javax.inject.Inject;

import org.gradle.api.GradleException;
import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.Directory;
import org.gradle.api.file.DirectoryProperty;
import org.gradle.api.file.FileSystemOperations;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.Property;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.CacheableTask;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.Nested;
import org.gradle.api.tasks.OutputDirectory;
import org.gradle.api.tasks.OutputFile;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.api.tasks.TaskAction;

/** Makes the decisions that need all parts, by {@code tracegen assign}. */
@CacheableTask
public abstract class AssignTask extends TracegenTask {
    /**
     * The scan files of all parts, and directories of such files.
     *
     * @return the files
     */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public abstract ConfigurableFileCollection getScans();

    /**
     * The options of the scan, for the rules and the class path.
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
     * The directory of the slices, which have the names of the scan files.
     *
     * @return the directory
     */
    @OutputDirectory
    public abstract DirectoryProperty getSlices();

    /**
     * The method mapping that is written.
     *
     * @return the file
     */
    @OutputFile
    public abstract RegularFileProperty getMapping();

    /**
     * The report that is written, as JSON. It has no calls and sizes.
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

    /** The directory to which file names in reports are relative. */
    @Internal
    abstract Property<File> getProjectDirectory();

    /**
     * Deletes files.
     *
     * @return the service
     */
    @Inject
    protected abstract FileSystemOperations getFiles();

    /** Takes the values of a variant, and writes below a directory. */
    void from(TracegenOptions options, Provider<Directory> directory) {
        getScanOptions().from(options);
        getAssignOptions().from(options);
        getSlices().set(directory.map(d -> d.dir("slices")));
        getMapping().set(directory.map(d -> d.file("methodMapping.txt")));
        getReport().set(directory.map(d -> d.file("report.json")));
        getSkipped().set(directory.map(d -> d.file("skipped.tsv")));
        getProjectDirectory().set(getProject().getRootDir());
    }

    @TaskAction
    void assign() {
        File slices = getSlices().get().getAsFile();
        getFiles().delete(spec -> spec.delete(slices));
        // By name, because of two equal parts one is enough.
        Map<String, String> scans = new TreeMap<>();
        for (File file : getScans().getAsFileTree()) {
            scans.putIfAbsent(PartKey.ofName(file), file.getPath());
        }
        if (scans.isEmpty()) {
            throw new GradleException("There is nothing to instrument: no scan file was made.");
        }
        ToolRunner runner = runner();
        Reports reports = new Reports(getTemporaryDir());
        List<String> arguments = new ArrayList<>();
        arguments.add("assign");
        arguments.add(runner.argumentFile("scans.txt", scans.values()));
        arguments.add("--slices=" + slices);
        arguments.add("--output=" + getMapping().get());
        arguments.add(reports.argument());
        arguments.addAll(getScanOptions().rules());
        arguments.addAll(getScanOptions().classpath(false));
        arguments.addAll(getAssignOptions().assign());
        try {
            runner.run("the class path", arguments);
        } finally {
            reports.copy(getReport(), getSkipped(), Collections.emptyMap(), getProjectDirectory().get());
        }
    }
}
