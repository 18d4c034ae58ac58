package dev.tracegen.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import javax.inject.Inject;

import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.DirectoryProperty;
import org.gradle.api.file.FileSystemOperations;
import org.gradle.api.tasks.CacheableTask;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.OutputDirectory;
import org.gradle.api.tasks.TaskAction;

/**
 * Instruments a class path by one run of {@code tracegen instrument}. Each jar becomes a jar of the same name in one
 * directory, in which {@code classpath.txt} lists them in their order.
 */
@CacheableTask
public abstract class InstrumentJarsTask extends InstrumentTask {
    /**
     * Jars and directories, in the order of the class path.
     *
     * @return the files
     */
    @Classpath
    public abstract ConfigurableFileCollection getClasses();

    /**
     * The directory into which the instrumented class path is written.
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
        Map<File, String> names = Layout.names(getClasses());
        Map<String, String> outputs = new LinkedHashMap<>();
        List<String> list = new ArrayList<>();
        names.forEach((file, name) -> {
            File output = new File(directory, name);
            if (Layout.isPart(file)) {
                outputs.put(file.getPath(), output.getPath());
            } else {
                Layout.copy(file, output);
            }
            list.add(name);
        });
        try {
            instrument("the class path", outputs, Collections.emptyList());
        } finally {
            if (new File(directory, Layout.RUNTIME).isFile() && !list.contains(Layout.RUNTIME)) {
                list.add(Layout.RUNTIME);
            }
            Layout.write(directory, list);
        }
    }
}
