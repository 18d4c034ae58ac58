package dev.tracegen.gradle;

import java.io.File;
import java.util.Collection;
import java.util.Locale;

import org.gradle.api.GradleException;
import org.gradle.api.Project;
import org.gradle.api.artifacts.Configuration;
import org.gradle.api.artifacts.type.ArtifactTypeDefinition;
import org.gradle.api.file.FileCollection;
import org.gradle.api.provider.Provider;
import org.gradle.api.specs.Spec;

/**
 * The tracegen binary of a project: a file that the user names, or an artifact of a Maven repository.
 *
 * <p>The artifact comes through the configuration {@code tracegenTool} and an artifact transform that makes it
 * executable. Gradle keeps the result below its user home, so the file is still there when a build takes its tasks from
 * the configuration cache.
 */
final class ToolBinary {
    static final String CONFIGURATION = "tracegenTool";
    /** The type of the artifact in the repository, which is its extension on all platforms. */
    private static final String PACKED = "exe";
    /** The type of the executable copy. */
    private static final String EXECUTABLE = "tracegen-executable";

    private final FileCollection files;
    private final Provider<String> key;
    private final Provider<Boolean> byContent;

    private ToolBinary(FileCollection files, Provider<String> key, Provider<Boolean> byContent) {
        this.files = files;
        this.key = key;
        this.byContent = byContent;
    }

    static ToolBinary create(Project project, TracegenExtension extension) {
        Configuration tool = project.getConfigurations().create(CONFIGURATION, c -> {
            c.setDescription("The tracegen binary of this machine's platform.");
            c.setVisible(false);
            c.setCanBeConsumed(false);
            c.setCanBeResolved(true);
            c.setTransitive(false);
            c.defaultDependencies(all -> all.add(project.getDependencies().create(
                    "dev.tracegen:tracegen:" + extension.getToolVersion().get() + ":" + classifier() + "@" + PACKED)));
        });
        project.getDependencies().registerTransform(ExecutableTransform.class, t -> {
            t.getFrom().attribute(ArtifactTypeDefinition.ARTIFACT_TYPE_ATTRIBUTE, PACKED);
            t.getTo().attribute(ArtifactTypeDefinition.ARTIFACT_TYPE_ATTRIBUTE, EXECUTABLE);
        });
        // A failure is reported by the key, with the way out.
        FileCollection resolved = tool.getIncoming().artifactView(view -> {
            view.setLenient(true);
            view.getAttributes().attribute(ArtifactTypeDefinition.ARTIFACT_TYPE_ATTRIBUTE, EXECUTABLE);
        }).getFiles();
        FileCollection files = project.files(extension.getExecutable().map(f -> (Object) f).orElse(
                project.provider(() -> (Object) resolved)));
        Provider<Boolean> given = extension.getExecutable().map(f -> true).orElse(false);
        // If the configuration cache stores the task, this is evaluated before: a failure is not stored.
        Provider<String> key = project.provider(() -> given.get() ? "a file" : resolve(tool, extension));
        Provider<Boolean> byContent = given.zip(extension.getShareCacheAcrossPlatforms(),
                (g, share) -> g || !share);
        return new ToolBinary(files, key, byContent);
    }

    /** Returns the version of the binary, and fails if the repositories do not have it. */
    private static String resolve(Configuration tool, TracegenExtension extension) {
        Collection<Throwable> failures = tool.getIncoming().artifactView(view -> view.setLenient(true))
                .getArtifacts().getFailures();
        if (failures.isEmpty()) {
            return extension.getToolVersion().get();
        }
        StringBuilder text = new StringBuilder();
        for (Throwable failure : failures) {
            for (Throwable e = failure; e != null; e = e.getCause()) {
                text.append("\n  ").append(e.getMessage());
            }
        }
        throw new GradleException("There is no tracegen binary for this machine. The plugin looks for dev.tracegen:"
                + "tracegen:" + extension.getToolVersion().get() + ", classifier " + classifier() + ", extension exe,"
                + " in the repositories of the project:" + text + "\nIf Gradle is offline, run it online once. If the"
                + " repositories do not have this file, add one that has it, or name a binary: tracegen { executable ="
                + " file(\"...\") }.");
    }

    /** Returns the binary: one file, and the tasks and transforms that make it. */
    FileCollection files() {
        return files;
    }

    /** Returns the binary if its content is an input, otherwise nothing. Whatever builds the binary is kept. */
    FileCollection content() {
        return files.filter(new IfTrue(byContent));
    }

    /** Returns the version of the binary, or a constant if the user names a file. */
    Provider<String> key() {
        return key;
    }

    /** Returns the classifier of this machine's platform, as the Maven plugin os-maven-plugin writes it. */
    static String classifier() {
        return classifier(System.getProperty("os.name"), System.getProperty("os.arch"));
    }

    static String classifier(String osName, String osArch) {
        String os = osName.toLowerCase(Locale.ROOT);
        String arch = osArch.toLowerCase(Locale.ROOT);
        String first = os.startsWith("linux") ? "linux" : os.startsWith("mac") || os.startsWith("osx") ? "osx"
                : os.startsWith("windows") ? "windows" : null;
        String second = arch.matches("x86_64|amd64|x64|x8664|ia32e|em64t") ? "x86_64"
                : arch.matches("aarch64|arm64") ? "aarch_64" : null;
        if (first == null || second == null) {
            throw new GradleException("There is no tracegen binary for " + osName + " on " + osArch
                    + ". Build one with `go build ./cmd/tracegen`, and set tracegen { executable = file(\"...\") }.");
        }
        return first + "-" + second;
    }

    /** Accepts all files or none. It is no lambda, so that the configuration cache can keep it. */
    private static final class IfTrue implements Spec<File> {
        private final Provider<Boolean> condition;

        IfTrue(Provider<Boolean> condition) {
            this.condition = condition;
        }

        @Override
        public boolean isSatisfiedBy(File file) {
            return condition.get();
        }
    }
}
