package dev.tracegen.gradle;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.gradle.api.GradleException;
import org.gradle.api.Plugin;
import org.gradle.api.Project;
import org.gradle.util.GradleVersion;

/** The plugin {@code dev.tracegen}. It may be applied before or after the plugins of the languages. */
public class TracegenPlugin implements Plugin<Project> {
    /** The group of all tasks. */
    static final String GROUP = "tracegen";
    /** The plugins of Android modules that are instrumented. */
    private static final String[] ANDROID = {"com.android.application", "com.android.dynamic-feature"};

    @Override
    public void apply(Project project) {
        if (GradleVersion.current().compareTo(GradleVersion.version("7.6")) < 0) {
            throw new GradleException("The plugin dev.tracegen needs Gradle 7.6 or newer; this is "
                    + GradleVersion.current().getVersion() + ".");
        }
        TracegenExtension extension = project.getExtensions().create("tracegen", TracegenExtension.class);
        extension.getToolVersion().convention(version());
        extension.getIncremental().convention(false);
        extension.getRuntimeExternal().convention(false);
        extension.getShareCacheAcrossPlatforms().convention(false);
        extension.getPublishMapping().convention(false);
        extension.getConfig().convention(project.getLayout().file(project.provider(() -> {
            for (Project p : new Project[] {project, project.getRootProject()}) {
                if (p.file("tracegen.yml").isFile()) {
                    return p.file("tracegen.yml");
                }
            }
            return null;
        })));
        ToolBinary binary = ToolBinary.create(project, extension);
        extension.getVariants().all(variant -> variant.inherit(extension));

        project.getPluginManager().withPlugin("java", p -> JvmSupport.apply(project, extension, binary));
        // A module has one of these plugins.
        for (String android : ANDROID) {
            project.getPluginManager().withPlugin(android, p -> AndroidSupport.apply(project, extension, binary));
        }
        project.afterEvaluate(p -> checkUse(p, extension));
    }

    /** Says which settings, or that all, have no effect in this project. */
    private static void checkUse(Project project, TracegenExtension extension) {
        boolean android = Arrays.stream(ANDROID).anyMatch(project.getPluginManager()::hasPlugin);
        if (!android && !project.getPluginManager().hasPlugin("java")) {
            project.getLogger().warn("tracegen: the plugin dev.tracegen does nothing in {}. Apply it in the modules"
                    + " with the plugin {} or java, where the program is built: it instruments the classes of all"
                    + " modules and libraries there.", project.getDisplayName(), String.join(", ", ANDROID));
        } else if (!android && !extension.getVariants().isEmpty()) {
            throw new GradleException("tracegen { variants { " + extension.getVariants().getNames().first() + " } }: "
                    + project.getDisplayName() + " is no Android app and has no variants.");
        } else if (android && extension.getPublishMapping().get()) {
            project.getLogger().warn("tracegen: publishMapping has no effect in {}, which is an Android app. The tasks"
                    + " uploadTracegen...Mapping put the mappings of its variants into an archive.",
                    project.getDisplayName());
        }
    }

    /** Returns the version of the plugin, which is that of the binary that it is made for. */
    static String version() {
        try (InputStream in = TracegenPlugin.class.getResourceAsStream("version.txt");
                BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            return reader.readLine();
        } catch (IOException e) {
            throw new GradleException("Cannot read the version of the plugin: " + e.getMessage(), e);
        }
    }
}
