package dev.tracegen.gradle;

import javax.inject.Inject;

import org.gradle.api.Named;

/**
 * Settings for one Android variant, or for all variants of one flavour or build type. What is not set is taken from the
 * extension.
 */
public abstract class TracegenVariant extends TracegenOptions implements Named {
    private final String name;

    /**
     * Creates the settings.
     *
     * @param name the name of a variant ({@code fullRelease}), a flavour ({@code full}) or a build type
     *     ({@code release})
     */
    @Inject
    public TracegenVariant(String name) {
        this.name = name;
    }

    @Override
    public String getName() {
        return name;
    }
}
