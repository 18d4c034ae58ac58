package dev.tracegen.gradle;

import org.gradle.api.Project;

/** Instruments the main class path of JVM programs. */
final class JvmSupport {
    private JvmSupport() {}

    /** Is called once, after the plugin {@code java} was applied. */
    static void apply(Project project, TracegenExtension extension, ToolBinary binary) {}
}
