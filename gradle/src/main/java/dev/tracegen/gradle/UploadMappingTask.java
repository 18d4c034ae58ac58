package dev.tracegen.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.gradle.api.file.RegularFile;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.Property;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.InputFile;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.Optional;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.api.tasks.TaskAction;
import org.gradle.api.tasks.UntrackedTask;

/** Puts the mappings of a build into an archive, by {@code tracegen mappings push}. */
@UntrackedTask(because = "The archive may be a bucket, and others change it.")
public abstract class UploadMappingTask extends TracegenTask {
    /**
     * The method mapping.
     *
     * @return the file
     */
    @InputFile
    @PathSensitive(PathSensitivity.NONE)
    public abstract RegularFileProperty getMapping();

    /**
     * The mapping of R8; absent if the program is not shrunk.
     *
     * @return the file
     */
    @InputFile
    @Optional
    @PathSensitive(PathSensitivity.NONE)
    public abstract RegularFileProperty getR8Mapping();

    /**
     * The archive, as {@link TracegenExtension#getArchive()}.
     *
     * @return the property
     */
    @Input
    @Optional
    public abstract Property<String> getArchive();

    /**
     * The version under which the release is found.
     *
     * @return the property
     */
    @Input
    @Optional
    public abstract Property<String> getVersion();

    /**
     * The variant under which the release is found.
     *
     * @return the property
     */
    @Input
    @Optional
    public abstract Property<String> getVariant();

    /** The directory to which a directory of mappings is relative. */
    @Internal
    abstract Property<File> getProjectDirectory();

    /** Takes the archive, and the mapping. */
    void from(TracegenExtension extension, Provider<RegularFile> mapping) {
        setGroup(TracegenPlugin.GROUP);
        getMapping().set(mapping);
        getArchive().set(extension.getArchive());
        getProjectDirectory().set(getProject().getProjectDir());
    }

    @TaskAction
    void upload() {
        List<String> arguments = new ArrayList<>();
        Collections.addAll(arguments, "mappings", "push", getMapping().get().toString());
        if (getArchive().isPresent()) {
            String archive = getArchive().get();
            arguments.add("--archive=" + (archive.contains("://") ? archive
                    : getProjectDirectory().get().toPath().resolve(archive)));
        }
        Flags.add(arguments, "--version", getVersion());
        Flags.add(arguments, "--variant", getVariant());
        Flags.add(arguments, "--r8-mapping", getR8Mapping());
        runner().loud().run("the mapping", arguments);
    }
}
