package dev.tracegen.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import javax.inject.Inject;

import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.DirectoryProperty;
import org.gradle.api.file.FileSystemOperations;
import org.gradle.api.tasks.CacheableTask;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.OutputDirectory;
import org.gradle.api.tasks.TaskAction;

/** Instruments a class path. Each jar becomes a jar of the same name in one directory. */
@CacheableTask
public abstract class InstrumentJarsTask extends InstrumentTask {
    /**
     * Jars, in the order of the class path.
     *
     * @return the files
     */
    @Classpath
    public abstract ConfigurableFileCollection getClasses();

    /**
     * The directory into which the instrumented jars are written.
     *
     * @return the directory
     */
    @OutputDirectory
    public abstract DirectoryProperty getLibraries();

    /**
     * Deletes files.
     *
     * @return the service
     */
    @Inject
    protected abstract FileSystemOperations getFiles();

    @TaskAction
    void instrument() {
        File directory = getLibraries().get().getAsFile();
        getFiles().delete(spec -> spec.delete(directory));
        List<File> inputs = new ArrayList<>();
        for (File file : getClasses()) {
            if (file.exists()) {
                inputs.add(file);
            }
        }
        instrument("the class path", inputs, Arrays.asList("--output=" + directory + File.separator));
    }
}
