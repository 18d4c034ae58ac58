package dev.tracegen.gradle;

import java.io.File;

import javax.inject.Inject;

import org.gradle.api.artifacts.transform.CacheableTransform;
import org.gradle.api.artifacts.transform.InputArtifact;
import org.gradle.api.artifacts.transform.TransformAction;
import org.gradle.api.artifacts.transform.TransformOutputs;
import org.gradle.api.artifacts.transform.TransformParameters;
import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.FileSystemLocation;
import org.gradle.api.logging.Logging;
import org.gradle.api.provider.Property;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.Nested;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.process.ExecOperations;

/**
 * Scans a dependency, by {@code tracegen scan}. The output is its scan file, {@code STEM-KEY.scan} (see
 * {@link PartKey}), or nothing if the dependency is neither a jar nor a directory.
 */
@CacheableTransform
public abstract class ScanTransform implements TransformAction<ScanTransform.Parameters> {
    /** The type of artifact that the transform makes. */
    static final String TYPE = "tracegen-scan";
    /** The type of artifact that it makes of a library. */
    static final String LIBRARY_TYPE = "tracegen-library-scan";

    /** The options and the binary. */
    public interface Parameters extends TransformParameters {
        /**
         * The options of the scan.
         *
         * @return the options
         */
        @Nested
        ScanOptions getOptions();

        /**
         * Whether the dependencies are libraries, and not modules of the build.
         *
         * @return the property
         */
        @Input
        Property<Boolean> getLibrary();

        /**
         * The binary, one file.
         *
         * @return the files
         */
        @Internal
        ConfigurableFileCollection getExecutable();

        /**
         * The binary if its content is an input, otherwise nothing.
         *
         * @return the files
         */
        @InputFiles
        @PathSensitive(PathSensitivity.NONE)
        ConfigurableFileCollection getExecutableContent();

        /**
         * The version of the binary.
         *
         * @return the property
         */
        @Input
        Property<String> getToolKey();
    }

    /**
     * The dependency.
     *
     * @return a jar or a directory
     */
    @InputArtifact
    @Classpath
    public abstract Provider<FileSystemLocation> getPart();

    /**
     * Runs processes.
     *
     * @return the service
     */
    @Inject
    protected abstract ExecOperations getExec();

    @Override
    public void transform(TransformOutputs outputs) {
        File part = getPart().get().getAsFile();
        if (!part.exists()) {
            return;
        }
        File scanFile = outputs.file(PartKey.stem(part) + ".scan");
        ToolRunner runner = new ToolRunner(getExec(), Logging.getLogger(ScanTransform.class),
                getParameters().getExecutable().getSingleFile(), scanFile.getParentFile());
        runner.scan(part, scanFile, getParameters().getOptions(), getParameters().getLibrary().get());
    }
}
