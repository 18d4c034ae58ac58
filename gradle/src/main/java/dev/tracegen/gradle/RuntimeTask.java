package dev.tracegen.gradle;

import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.zip.ZipFile;

import javax.inject.Inject;

import org.gradle.api.GradleException;
import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.DirectoryProperty;
import org.gradle.api.file.FileSystemOperations;
import org.gradle.api.provider.Property;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.CacheableTask;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.OutputDirectory;
import org.gradle.api.tasks.TaskAction;

/**
 * Writes the runtime that is built into the binary, as a part for {@link ScanTask}. It writes nothing if the class path
 * has the runtime class. {@code tracegen instrument} does the same by itself.
 */
@CacheableTask
public abstract class RuntimeTask extends TracegenTask {
    private static final String CLASS = "dev/tracegen/runtime/AppMethodBeat.class";

    /**
     * The class path that may have a runtime.
     *
     * @return the files
     */
    @Classpath
    public abstract ConfigurableFileCollection getClasses();

    /**
     * Whether the class that is called is that of tracegen, and not provided elsewhere.
     *
     * @return the property
     */
    @Input
    public abstract Property<Boolean> getBuiltIn();

    /**
     * The directory into which {@code tracegen-runtime.jar} is written.
     *
     * @return the directory
     */
    @OutputDirectory
    public abstract DirectoryProperty getDirectory();

    /**
     * Deletes files.
     *
     * @return the service
     */
    @Inject
    protected abstract FileSystemOperations getFiles();

    /** Takes the values of a variant. */
    void from(TracegenOptions options) {
        Provider<Boolean> own = options.getPreset().orElse("android").zip(
                options.getRuntimeClass().map(c -> false).orElse(true),
                (preset, none) -> none && preset.equals("android"));
        getBuiltIn().set(options.getRuntimeExternal().zip(own, (external, yes) -> yes && !external));
    }

    @TaskAction
    void write() {
        File directory = getDirectory().get().getAsFile();
        getFiles().delete(spec -> spec.delete((Object[]) directory.listFiles()));
        if (!getBuiltIn().get()) {
            return;
        }
        for (File file : getClasses()) {
            if (hasRuntime(file)) {
                getLogger().info("The class path has a runtime: {}", file);
                return;
            }
        }
        File all = new File(getTemporaryDir(), "runtime");
        runner().run("the project", Arrays.asList("runtime", "--quiet", "--output=" + all));
        getFiles().copy(spec -> spec.from(new File(all, Layout.RUNTIME)).into(directory));
    }

    private static boolean hasRuntime(File file) {
        if (file.isDirectory()) {
            return new File(file, CLASS).isFile();
        }
        if (!file.isFile() || !Layout.isPart(file)) {
            return false;
        }
        try (ZipFile zip = new ZipFile(file)) {
            return zip.getEntry(CLASS) != null;
        } catch (IOException e) {
            throw new GradleException("Cannot read " + file + ": " + e.getMessage(), e);
        }
    }
}
