package dev.tracegen.gradle;

import java.io.File;
import java.util.Set;

import javax.inject.Inject;

import org.gradle.api.DefaultTask;
import org.gradle.api.GradleException;
import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.provider.Property;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.process.ExecOperations;
import org.gradle.work.DisableCachingByDefault;

/** A task that runs the binary. */
@DisableCachingByDefault(because = "Subclasses decide.")
public abstract class TracegenTask extends DefaultTask {
    /**
     * The binary, one file.
     *
     * @return the files
     */
    @Internal
    public abstract ConfigurableFileCollection getExecutable();

    /**
     * The binary if its content is an input, otherwise nothing.
     *
     * @return the files
     */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public abstract ConfigurableFileCollection getExecutableContent();

    /**
     * The version of the binary.
     *
     * @return the property
     */
    @Input
    public abstract Property<String> getToolKey();

    /** The directory of {@code --cache}, below Gradle's user home: what is there after a clean checkout. */
    @Internal
    abstract Property<File> getCache();

    /**
     * Runs processes.
     *
     * @return the service
     */
    @Inject
    protected abstract ExecOperations getExec();

    /** Sets the binary. */
    void use(ToolBinary binary) {
        getExecutable().from(binary.files());
        getExecutableContent().from(binary.content());
        // An internal property adds no dependency.
        dependsOn(binary.files());
        getToolKey().set(binary.key());
        getCache().set(new File(getProject().getGradle().getGradleUserHomeDir(), "caches/tracegen"));
    }

    /** Returns a runner that works in the task's temporary directory. */
    ToolRunner runner() {
        Set<File> files = getExecutable().getFiles();
        if (files.size() != 1) {
            throw new GradleException("The configuration " + ToolBinary.CONFIGURATION + " has " + files.size()
                    + " files instead of one binary: " + files);
        }
        return new ToolRunner(getExec(), getLogger(), files.iterator().next(), getTemporaryDir());
    }
}
