package dev.tracegen.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.gradle.api.file.Directory;
import org.gradle.api.file.RegularFile;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.ListProperty;
import org.gradle.api.tasks.CacheableTask;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.OutputFile;
import org.gradle.api.tasks.TaskAction;

/** Instruments all classes of an Android variant into one jar, as the Android Gradle plugin wants it. */
@CacheableTask
public abstract class InstrumentClassesTask extends InstrumentTask {
    /**
     * The jars. Their order differs between versions of the Android Gradle plugin; IDs do not depend on it.
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
     * The jar that is written. The Android Gradle plugin says where.
     *
     * @return the file
     */
    @OutputFile
    public abstract RegularFileProperty getOutput();

    @TaskAction
    void instrument() {
        Map<String, String> inputs = new LinkedHashMap<>();
        for (File input : inputs(getJars().get(), getDirectories().get())) {
            inputs.put(input.getPath(), "");
        }
        instrument("the variant's classes", inputs,
                Arrays.asList("--merge", "--output=" + getOutput().get()));
    }

    /** Returns those that exist: the Android Gradle plugin names directories that no compiler has written to. */
    static List<File> inputs(List<RegularFile> jars, List<Directory> directories) {
        List<File> inputs = new ArrayList<>();
        for (Directory directory : directories) {
            if (directory.getAsFile().exists()) {
                inputs.add(directory.getAsFile());
            }
        }
        for (RegularFile jar : jars) {
            if (jar.getAsFile().exists()) {
                inputs.add(jar.getAsFile());
            }
        }
        return inputs;
    }
}
