package dev.tracegen.gradle;

import java.io.File;

import javax.inject.Inject;

import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.DirectoryProperty;
import org.gradle.api.file.FileSystemOperations;
import org.gradle.api.tasks.CacheableTask;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.Nested;
import org.gradle.api.tasks.OutputDirectory;
import org.gradle.api.tasks.TaskAction;

/** Scans the parts of a module, each by itself. Dependencies are scanned by {@link ScanTransform}. */
@CacheableTask
public abstract class ScanTask extends TracegenTask {
    /**
     * Jars and directories; each is a part.
     *
     * @return the files
     */
    @Classpath
    public abstract ConfigurableFileCollection getParts();

    /**
     * The options of the scan.
     *
     * @return the options
     */
    @Nested
    public abstract ScanOptions getScanOptions();

    /**
     * The directory of the scan files.
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
        File directory = getScans().get().getAsFile();
        getFiles().delete(spec -> spec.delete((Object[]) directory.listFiles()));
        ToolRunner runner = runner();
        for (File part : getParts()) {
            if (part.exists()) {
                runner.scan(part, new File(directory, PartKey.stem(part) + ".scan"), getScanOptions(), false);
            }
        }
    }
}
