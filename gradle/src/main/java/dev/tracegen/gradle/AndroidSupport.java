package dev.tracegen.gradle;

import org.gradle.api.Project;

/** Instruments the variants of Android apps and dynamic features. */
final class AndroidSupport {
    private AndroidSupport() {}

    /** Is called once, after an Android plugin was applied. */
    static void apply(Project project, TracegenExtension extension, ToolBinary binary) {}
}
