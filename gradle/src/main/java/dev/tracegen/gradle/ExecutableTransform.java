package dev.tracegen.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;

import org.gradle.api.GradleException;
import org.gradle.api.artifacts.transform.InputArtifact;
import org.gradle.api.artifacts.transform.TransformAction;
import org.gradle.api.artifacts.transform.TransformOutputs;
import org.gradle.api.artifacts.transform.TransformParameters;
import org.gradle.api.file.FileSystemLocation;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.work.DisableCachingByDefault;

/** Copies the binary and makes the copy executable: files of a repository have no permissions. */
@DisableCachingByDefault(because = "It only copies a file.")
public abstract class ExecutableTransform implements TransformAction<TransformParameters.None> {
    /**
     * The artifact of the repository.
     *
     * @return the file
     */
    @InputArtifact
    @PathSensitive(PathSensitivity.NONE)
    public abstract Provider<FileSystemLocation> getArtifact();

    @Override
    public void transform(TransformOutputs outputs) {
        File from = getArtifact().get().getAsFile();
        boolean windows = from.getName().contains("windows");
        File to = outputs.file(windows ? "tracegen.exe" : "tracegen");
        try {
            Files.copy(from.toPath(), to.toPath());
        } catch (IOException e) {
            throw new GradleException("Cannot copy " + from + " to " + to + ": " + e.getMessage(), e);
        }
        if (!to.setExecutable(true, false)) {
            throw new GradleException("Cannot make " + to + " executable.");
        }
    }
}
