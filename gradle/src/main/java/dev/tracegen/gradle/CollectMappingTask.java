package dev.tracegen.gradle;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;

import javax.inject.Inject;

import org.gradle.api.DefaultTask;
import org.gradle.api.GradleException;
import org.gradle.api.file.DirectoryProperty;
import org.gradle.api.file.FileSystemOperations;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.tasks.InputFile;
import org.gradle.api.tasks.Optional;
import org.gradle.api.tasks.OutputDirectory;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.api.tasks.TaskAction;
import org.gradle.work.DisableCachingByDefault;

/**
 * Copies the method mapping and R8's mapping into one directory that has the digest as its name, for an upload:
 * {@code DIGEST/methodMapping.txt} and {@code DIGEST/r8Mapping.txt}.
 */
@DisableCachingByDefault(because = "It only copies files.")
public abstract class CollectMappingTask extends DefaultTask {
    /**
     * The method mapping.
     *
     * @return the file
     */
    @InputFile
    @PathSensitive(PathSensitivity.NONE)
    public abstract RegularFileProperty getMapping();

    /**
     * The mapping of R8; absent if the variant is not shrunk.
     *
     * @return the file
     */
    @InputFile
    @Optional
    @PathSensitive(PathSensitivity.NONE)
    public abstract RegularFileProperty getR8Mapping();

    /**
     * The directory that is written. Mappings of earlier builds are removed from it.
     *
     * @return the directory
     */
    @OutputDirectory
    public abstract DirectoryProperty getDirectory();

    /**
     * Copies and deletes files.
     *
     * @return the service
     */
    @Inject
    protected abstract FileSystemOperations getFiles();

    @TaskAction
    void collect() {
        File mapping = getMapping().get().getAsFile();
        String digest = digestOf(mapping);
        getFiles().sync(spec -> {
            spec.into(getDirectory());
            spec.into(digest, in -> {
                in.from(mapping, file -> file.rename(name -> "methodMapping.txt"));
                if (getR8Mapping().isPresent()) {
                    in.from(getR8Mapping(), file -> file.rename(name -> "r8Mapping.txt"));
                }
            });
        });
    }

    /** Returns the digest in the header of a mapping. */
    static String digestOf(File mapping) {
        try (BufferedReader in = Files.newBufferedReader(mapping.toPath(), StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null && line.startsWith("#"); line = in.readLine()) {
                if (line.startsWith("# digest ")) {
                    return line.substring("# digest ".length()).trim();
                }
            }
        } catch (IOException e) {
            throw new GradleException("Cannot read " + mapping + ": " + e.getMessage(), e);
        }
        throw new GradleException(mapping + " has no digest in its header: it is not a mapping of tracegen.");
    }
}
