package dev.tracegen.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.gradle.api.GradleException;
import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.Directory;
import org.gradle.api.file.RegularFile;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.ListProperty;
import org.gradle.api.provider.Property;
import org.gradle.api.tasks.CacheableTask;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.Nested;
import org.gradle.api.tasks.OutputFile;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.api.tasks.TaskAction;

/** Instruments the jar of a dynamic feature by the slice that the base module has written for it. */
@CacheableTask
public abstract class InstrumentFeatureTask extends TracegenTask {
    /**
     * The jar that {@link ScanFeatureTask} has made.
     *
     * @return the files
     */
    @Classpath
    public abstract ListProperty<RegularFile> getJars();

    /**
     * The directories of classes; there are none.
     *
     * @return the directories
     */
    @Classpath
    public abstract ListProperty<Directory> getDirectories();

    /**
     * The directory of the slices of all features, which does not exist if the base module is not instrumented.
     *
     * @return the directory
     */
    @InputFiles
    @PathSensitive(PathSensitivity.RELATIVE)
    public abstract ConfigurableFileCollection getSlices();

    /**
     * The options of the scan: where classes are found. The other decisions are in the slice.
     *
     * @return the options
     */
    @Nested
    public abstract ScanOptions getScanOptions();

    /**
     * By how many percent the class files may grow.
     *
     * @return the limit, infinite if there is none
     */
    @Input
    public abstract Property<Double> getGrowthLimit();

    /**
     * The jar that is written. The Android Gradle plugin says where.
     *
     * @return the file
     */
    @OutputFile
    public abstract RegularFileProperty getOutput();

    @TaskAction
    void instrument() {
        List<File> inputs = InstrumentClassesTask.inputs(getJars().get(), getDirectories().get());
        if (inputs.size() != 1) {
            throw new GradleException("Another plugin has changed the classes of the feature after tracegen scanned"
                    + " them: " + inputs + ". Apply the plugin dev.tracegen after it.");
        }
        File jar = inputs.get(0);
        if (getSlices().isEmpty()) {
            throw new GradleException("No project that the feature depends on has the plugin dev.tracegen and a variant"
                    + " of this name. Apply the plugin to the base module too.");
        }
        if (getSlices().getAsFileTree().isEmpty()) {
            getLogger().info("The base module does not instrument this variant, so the feature is not instrumented.");
            Layout.copy(jar, getOutput().get().getAsFile());
            return;
        }
        String key = PartKey.of(jar);
        for (File slice : getSlices().getAsFileTree()) {
            if (PartKey.ofName(slice).equals(key)) {
                List<String> arguments = new ArrayList<>();
                Collections.addAll(arguments, "instrument", "--slice=" + slice, jar.getPath(),
                        "--output=" + getOutput().get(), "--compression=store", "--quiet");
                arguments.addAll(getScanOptions().classpath(true));
                runner().run("the feature's classes", arguments);
                Growth.check(getGrowthLimit().get(), inputs, Collections.singletonList(getOutput().get().getAsFile()));
                return;
            }
        }
        throw new GradleException("The base module has no slice for " + jar + ": its dynamicFeatures must name this"
                + " module.");
    }
}
