package dev.tracegen.gradle;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

import org.gradle.api.GradleException;
import org.gradle.api.Plugin;
import org.gradle.api.Project;
import org.gradle.util.GradleVersion;

/** The plugin {@code dev.tracegen}. It may be applied before or after the plugins of the languages. */
public class TracegenPlugin implements Plugin<Project> {
    /** The group of all tasks. */
    static final String GROUP = "tracegen";

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
        project.getPluginManager().withPlugin("com.android.application",
                p -> AndroidSupport.apply(project, extension, binary));
        project.getPluginManager().withPlugin("com.android.dynamic-feature",
                p -> AndroidSupport.apply(project, extension, binary));
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
