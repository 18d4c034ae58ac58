package dev.tracegen.gradle;

import org.gradle.api.NamedDomainObjectContainer;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.Property;

/**
 * The extension {@code tracegen}: where the binary is found, and the settings of all variants.
 */
public abstract class TracegenExtension extends TracegenOptions {
    /**
     * The binary. If it is set, none is resolved from a repository.
     *
     * @return the property
     */
    public abstract RegularFileProperty getExecutable();

    /**
     * The version of the binary that is resolved from a repository. The default is the version of the plugin.
     *
     * @return the property
     */
    public abstract Property<String> getToolVersion();

    /**
     * Whether machines with different operating systems share entries of the build cache. If it is false, the default,
     * the content of the binary is an input of all tasks: it differs on each platform. If it is true, only the version
     * of the binary is an input. That is right for released versions, whose outputs do not depend on the platform, and
     * wrong for a binary that you replace without changing its version. It has no effect if {@link #getExecutable()}
     * is set.
     *
     * @return the property
     */
    public abstract Property<Boolean> getShareCacheAcrossPlatforms();

    /**
     * Whether the mapping of a JVM program is published with its publications of the plugin {@code maven-publish}, with
     * the classifier {@code tracegen-mapping}. The default is false.
     *
     * @return the property
     */
    public abstract Property<Boolean> getPublishMapping();

    /**
     * The archive into which the tasks {@code uploadTracegen...Mapping} put mappings: a directory, relative to that of
     * the project, or {@code s3://BUCKET/PREFIX}. The default is that in the variable {@code TRACEGEN_ARCHIVE}.
     *
     * @return the property
     */
    public abstract Property<String> getArchive();

    /**
     * Settings of single Android variants.
     *
     * @return the container
     */
    public abstract NamedDomainObjectContainer<TracegenVariant> getVariants();
}
