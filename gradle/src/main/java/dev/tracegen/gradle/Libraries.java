package dev.tracegen.gradle;

import org.gradle.api.artifacts.Configuration;
import org.gradle.api.artifacts.component.ProjectComponentIdentifier;
import org.gradle.api.artifacts.type.ArtifactTypeDefinition;
import org.gradle.api.file.FileCollection;

/**
 * Finds the libraries on a class path. A library is what no project of the build, or of a build that it includes, has
 * made: the modules of repositories, and files. All else is the program itself.
 */
final class Libraries {
    private Libraries() {}

    /**
     * Returns the files of the libraries.
     *
     * @param type the type of artifacts
     */
    static FileCollection of(Configuration classpath, String type) {
        return files(classpath, type, true);
    }

    /** Returns the files of the modules of the build. */
    static FileCollection others(Configuration classpath, String type) {
        return files(classpath, type, false);
    }

    private static FileCollection files(Configuration classpath, String type, boolean libraries) {
        return classpath.getIncoming().artifactView(view -> {
            view.getAttributes().attribute(ArtifactTypeDefinition.ARTIFACT_TYPE_ATTRIBUTE, type);
            view.componentFilter(id -> libraries != id instanceof ProjectComponentIdentifier);
        }).getFiles();
    }
}
