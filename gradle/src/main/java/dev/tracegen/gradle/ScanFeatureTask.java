package dev.tracegen.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import javax.inject.Inject;

import org.gradle.api.file.Directory;
import org.gradle.api.file.DirectoryProperty;
import org.gradle.api.file.FileSystemOperations;
import org.gradle.api.file.RegularFile;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.ListProperty;
import org.gradle.api.tasks.CacheableTask;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.Nested;
import org.gradle.api.tasks.OutputDirectory;
import org.gradle.api.tasks.OutputFile;
import org.gradle.api.tasks.TaskAction;

/**
 * Merges the classes of a dynamic feature into one jar and scans it. The classes are not changed. The base module reads
 * the scan file, and assigns the IDs of the whole app. {@link InstrumentFeatureTask} then instruments the jar.
 */
@CacheableTask
public abstract class ScanFeatureTask extends TracegenTask {
    /**
     * The jars.
     *
     * @return the files
     */
    @Classpath
    public abstract ListProperty<RegularFile> getJars();

    /**
     * The directories of classes.
     *
     * @return the directories
     */
    @Classpath
    public abstract ListProperty<Directory> getDirectories();

    /**
     * The options that decide about classes one by one.
     *
     * @return the options
     */
    @Nested
    public abstract ScanOptions getScanOptions();

    /**
     * The merged jar. The Android Gradle plugin says where.
     *
     * @return the file
     */
    @OutputFile
    public abstract RegularFileProperty getOutput();

    /**
     * The directory of the scan file.
     *
     * @return the directory
     */
    @OutputDirectory
    public abstract DirectoryProperty getScans();

    /**
     * Deletes files.
     *
     * @return the service
     */
    @Inject
    protected abstract FileSystemOperations getFiles();

    @TaskAction
    void scan() {
        File scans = getScans().get().getAsFile();
        getFiles().delete(spec -> spec.delete((Object[]) scans.listFiles()));
        List<String> inputs = new ArrayList<>();
        for (File input : InstrumentClassesTask.inputs(getJars().get(), getDirectories().get())) {
            inputs.add(input.getPath());
        }
        File merged = getOutput().get().getAsFile();
        ToolRunner runner = runner();
        List<String> arguments = new ArrayList<>();
        Collections.addAll(arguments, "instrument", runner.argumentFile("inputs.txt", inputs), "--disabled", "--merge",
                "--output=" + merged, "--mapping=" + new File(getTemporaryDir(), "none.txt"), "--quiet",
                "--compression=store");
        runner.run("the feature's classes", arguments);
        runner.scan(merged, new File(scans, PartKey.stem(merged) + ".scan"), getScanOptions(), false);
    }
}
