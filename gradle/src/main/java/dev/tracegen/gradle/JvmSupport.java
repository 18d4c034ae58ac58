package dev.tracegen.gradle;

import java.io.File;
import java.util.Collections;
import java.util.List;

import org.gradle.api.JavaVersion;
import org.gradle.api.Project;
import org.gradle.api.Transformer;
import org.gradle.api.artifacts.Configuration;
import org.gradle.api.artifacts.type.ArtifactTypeDefinition;
import org.gradle.api.attributes.Attribute;
import org.gradle.api.file.Directory;
import org.gradle.api.file.FileCollection;
import org.gradle.api.file.RegularFile;
import org.gradle.api.plugins.JavaPluginExtension;
import org.gradle.api.provider.Provider;
import org.gradle.api.publish.PublishingExtension;
import org.gradle.api.publish.maven.MavenPublication;
import org.gradle.api.tasks.JavaExec;
import org.gradle.api.tasks.SourceSet;
import org.gradle.api.tasks.TaskProvider;
import org.gradle.api.tasks.bundling.Jar;
import org.gradle.jvm.toolchain.JavaLauncher;
import org.gradle.jvm.toolchain.JavaToolchainService;

/** Instruments the main class path of JVM programs: the jar of the module, and its dependencies. */
final class JvmSupport {
    /** The configuration through which other projects get the mapping. */
    static final String MAPPING = "tracegenMapping";

    private final Project project;
    private final TracegenExtension extension;
    private final ToolBinary binary;
    private final Provider<Directory> directory;
    private final SourceSet main;
    /** The jar of the built-in runtime, or nothing; a part of its own if the work is divided. */
    private FileCollection runtimeJar;

    private static final Attribute<String> TYPE = ArtifactTypeDefinition.ARTIFACT_TYPE_ATTRIBUTE;

    private JvmSupport(Project project, TracegenExtension extension, ToolBinary binary) {
        this.project = project;
        this.extension = extension;
        this.binary = binary;
        directory = project.getLayout().getBuildDirectory().dir("tracegen/main");
        main = project.getExtensions().getByType(JavaPluginExtension.class).getSourceSets()
                .getByName(SourceSet.MAIN_SOURCE_SET_NAME);
    }

    /** Is called once, after the plugin {@code java} was applied. */
    static void apply(Project project, TracegenExtension extension, ToolBinary binary) {
        new JvmSupport(project, extension, binary).apply();
    }

    private void apply() {
        extension.getEnabled().convention(true);

        TaskProvider<Jar> jar = project.getTasks().named(main.getJarTaskName(), Jar.class);
        Configuration runtime = project.getConfigurations().getByName(main.getRuntimeClasspathConfigurationName());
        FileCollection classes = project.files(jar.flatMap(Jar::getArchiveFile), runtime);

        TaskProvider<InstrumentJarsTask> atOnce = atOnce(classes);
        TaskProvider<AssignTask> assign = assign(jar, runtime, classes);
        TaskProvider<InstrumentPartsTask> inParts = inParts(assign, classes);

        // Which of the two tasks runs is decided when the build file has been read.
        Provider<Boolean> divided = extension.getIncremental().zip(extension.getEnabled(), (a, b) -> a && b);
        Provider<Directory> libraries = divided.flatMap(yes -> yes ? inParts.flatMap(InstrumentPartsTask::getLibraries)
                : atOnce.flatMap(InstrumentJarsTask::getLibraries));
        Provider<RegularFile> mapping = divided.flatMap(yes -> yes ? assign.flatMap(AssignTask::getMapping)
                : atOnce.flatMap(InstrumentJarsTask::getMapping));
        project.getTasks().register("instrumentedJar", task -> {
            task.setGroup(TracegenPlugin.GROUP);
            task.setDescription("Instruments the main jar and its runtime class path.");
            task.dependsOn(libraries);
        });
        publish(mapping);
        run(libraries, mapping);
    }

    private TaskProvider<InstrumentJarsTask> atOnce(FileCollection classes) {
        return project.getTasks().register("instrumentClasspath", InstrumentJarsTask.class, task -> {
            task.setDescription("Instruments the main jar and its runtime class path by one run.");
            task.use(binary);
            task.from(extension, directory);
            jvm(task.getScanOptions());
            task.getClasses().from(classes);
            task.getLibraries().set(directory.map(d -> d.dir("libs")));
            task.getDisabled().set(extension.getEnabled().map(enabled -> !enabled));
        });
    }

    private TaskProvider<AssignTask> assign(TaskProvider<Jar> jar, Configuration runtime, FileCollection classes) {
        for (String type : new String[] {ArtifactTypeDefinition.JAR_TYPE, ArtifactTypeDefinition.DIRECTORY_TYPE,
                ArtifactTypeDefinition.ZIP_TYPE}) {
            project.getDependencies().registerTransform(ScanTransform.class, t -> {
                t.getFrom().attribute(TYPE, type);
                t.getTo().attribute(TYPE, ScanTransform.TYPE);
                t.parameters(p -> {
                    p.getExecutable().from(binary.files());
                    p.getExecutableContent().from(binary.content());
                    p.getToolKey().set(binary.key());
                    p.getOptions().from(extension);
                    jvm(p.getOptions());
                });
            });
        }
        FileCollection dependencies = runtime.getIncoming().artifactView(view ->
                view.getAttributes().attribute(TYPE, ScanTransform.TYPE)).getFiles();

        TaskProvider<RuntimeTask> runtimeTask = project.getTasks().register("tracegenRuntime", RuntimeTask.class,
                task -> {
                    task.setDescription("Writes the built-in runtime, unless the class path has one.");
                    task.use(binary);
                    task.from(extension);
                    task.getClasses().from(classes);
                    task.getDirectory().set(directory.map(d -> d.dir("runtime")));
                });
        runtimeJar = project.files(runtimeTask.flatMap(RuntimeTask::getDirectory)).getAsFileTree();
        TaskProvider<ScanTask> scan = project.getTasks().register("tracegenScan", ScanTask.class, task -> {
            task.setDescription("Scans the main jar and the runtime.");
            task.use(binary);
            task.getParts().from(jar.flatMap(Jar::getArchiveFile), runtimeJar);
            task.getScanOptions().from(extension);
            jvm(task.getScanOptions());
            task.getScans().set(directory.map(d -> d.dir("scans")));
        });
        return project.getTasks().register("tracegenAssign", AssignTask.class, task -> {
            task.setDescription("Assigns the IDs of the methods, and writes the mapping.");
            task.use(binary);
            task.from(extension, directory);
            task.getScans().from(scan, dependencies);
        });
    }

    private TaskProvider<InstrumentPartsTask> inParts(TaskProvider<AssignTask> assign, FileCollection classes) {
        return project.getTasks().register("instrumentParts", InstrumentPartsTask.class, task -> {
            task.setDescription("Instruments the jars of the main class path that have changed.");
            task.use(binary);
            task.getClasses().from(classes, runtimeJar);
            task.getSlices().set(assign.flatMap(AssignTask::getSlices));
            task.getScanOptions().from(extension);
            jvm(task.getScanOptions());
            task.getCompression().set(extension.getCompression());
            task.getGrowthLimit().set(Growth.limit(extension));
            task.getLibraries().set(directory.map(d -> d.dir("libs")));
            task.getStateFile().set(directory.map(d -> d.file("parts.txt")));
        });
    }

    /** Sets the JDK of the project's toolchain, and what is best for JVM programs. */
    private void jvm(ScanOptions options) {
        options.getDefaults().put("target", "jvm");
        // Many programs use exceptions in their usual course.
        options.getDefaults().put("exits", "exact");
        Provider<JavaLauncher> launcher = project.getExtensions().getByType(JavaToolchainService.class)
                .launcherFor(project.getExtensions().getByType(JavaPluginExtension.class).getToolchain());
        // The configuration cache cannot keep the launcher's own provider among the parameters of a transform. Gradle 7
        // has no launcher if the project names no toolchain: then its own JVM is that of the project.
        options.getJdkHome().set(project.provider(() -> launcher.isPresent()
                ? launcher.get().getMetadata().getInstallationPath().getAsFile().getPath()
                : System.getProperty("java.home")));
        options.getJdkVersion().set(project.provider(() -> launcher.isPresent()
                ? launcher.get().getMetadata().getLanguageVersion().toString()
                : JavaVersion.current().getMajorVersion()));
    }

    private void publish(Provider<RegularFile> mapping) {
        project.getConfigurations().create(MAPPING, c -> {
            c.setDescription("The method mapping of the instrumented main class path.");
            c.setVisible(false);
            c.setCanBeConsumed(true);
            c.setCanBeResolved(false);
        });
        project.getArtifacts().add(MAPPING, mapping, artifact -> {
            artifact.setClassifier("tracegen-mapping");
            artifact.setType("txt");
        });
        project.getTasks().register("uploadTracegenMapping", UploadMappingTask.class, task -> {
            task.setDescription("Puts the mapping into the archive.");
            task.use(binary);
            task.from(extension, mapping);
            task.getVersion().set(project.provider(() -> project.getVersion().toString()));
        });
        // Publications are created by the build file, so they are all there when it has been read.
        project.getPluginManager().withPlugin("maven-publish", plugin -> project.afterEvaluate(p -> {
            if (extension.getPublishMapping().get()) {
                p.getExtensions().getByType(PublishingExtension.class).getPublications()
                        .withType(MavenPublication.class).configureEach(publication -> publication.artifact(mapping,
                                artifact -> {
                                    artifact.setClassifier("tracegen-mapping");
                                    artifact.setExtension("txt");
                                }));
            }
        }));
    }

    private void run(Provider<Directory> libraries, Provider<RegularFile> mapping) {
        Provider<RegularFile> recording = directory.map(d -> d.file("recording/main.tgd"));
        TaskProvider<RunInstrumentedTask> run = project.getTasks().register("runInstrumented",
                RunInstrumentedTask.class, task -> {
                    task.setGroup(TracegenPlugin.GROUP);
                    task.setDescription("Runs the instrumented program and records it.");
                    task.setClasspath(project.files(libraries.map(new ReadLayout())));
                    task.dependsOn(mapping);
                    task.getRecording().convention(recording);
                    task.getMapping().set(mapping);
                    if (project.getPluginManager().hasPlugin("application")) {
                        like(task, project.getTasks().named("run", JavaExec.class).get());
                    }
                });
        project.getTasks().register("tracegenReport", ReportTask.class, task -> {
            task.setGroup(TracegenPlugin.GROUP);
            task.setDescription("Analyzes the recording of runInstrumented, and writes a page for a browser.");
            task.use(binary);
            task.mustRunAfter(run, mapping);
            task.getRecording().set(run.flatMap(RunInstrumentedTask::getRecording));
            task.getMapping().set(directory.map(d -> d.file("methodMapping.txt")));
            task.getPage().convention(directory.map(d -> d.file("recording/main.html")));
        });
    }

    /**
     * Makes a task run the program as another one does. The environment stays that of Gradle: the map of the other task
     * has all variables of the process, and the configuration cache would keep them.
     */
    private static void like(JavaExec task, JavaExec run) {
        task.getMainClass().convention(run.getMainClass());
        task.getMainModule().convention(run.getMainModule());
        task.setArgs(run.getArgs());
        task.getArgumentProviders().addAll(run.getArgumentProviders());
        task.setJvmArgs(run.getJvmArgs());
        task.getJvmArgumentProviders().addAll(run.getJvmArgumentProviders());
        task.setSystemProperties(run.getSystemProperties());
        task.setWorkingDir(run.getWorkingDir());
        task.setEnableAssertions(run.getEnableAssertions());
        task.setMinHeapSize(run.getMinHeapSize());
        task.setMaxHeapSize(run.getMaxHeapSize());
        if (run.getStandardInput() != null) {
            task.setStandardInput(run.getStandardInput());
        }
    }

    /** Reads the class path that a task has written. It is no lambda, so that the configuration cache can keep it. */
    static final class ReadLayout implements Transformer<List<File>, Directory> {
        @Override
        public List<File> transform(Directory directory) {
            return Layout.read(directory.getAsFile());
        }
    }
}
