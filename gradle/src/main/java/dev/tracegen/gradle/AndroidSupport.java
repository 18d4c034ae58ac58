package dev.tracegen.gradle;

import static dev.tracegen.gradle.VariantNames.capitalized;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import com.android.build.api.artifact.ScopedArtifact;
import com.android.build.api.artifact.SingleArtifact;
import com.android.build.api.dsl.ApplicationBuildType;
import com.android.build.api.dsl.BuildType;
import com.android.build.api.dsl.CommonExtension;
import com.android.build.api.dsl.ProductFlavor;
import com.android.build.api.variant.AndroidComponentsExtension;
import com.android.build.api.variant.ApplicationAndroidComponentsExtension;
import com.android.build.api.variant.ApplicationVariant;
import com.android.build.api.variant.DynamicFeatureAndroidComponentsExtension;
import com.android.build.api.variant.DynamicFeatureVariant;
import com.android.build.api.variant.ScopedArtifacts;
import com.android.build.api.variant.Variant;
import org.gradle.api.Action;
import org.gradle.api.Project;
import org.gradle.api.artifacts.Configuration;
import org.gradle.api.artifacts.Dependency;
import org.gradle.api.artifacts.ProjectDependency;
import org.gradle.api.attributes.Attribute;
import org.gradle.api.artifacts.type.ArtifactTypeDefinition;
import org.gradle.api.attributes.Category;
import org.gradle.api.attributes.Usage;
import org.gradle.api.file.Directory;
import org.gradle.api.file.FileCollection;
import org.gradle.api.file.FileSystemLocation;
import org.gradle.api.file.RegularFile;
import org.gradle.api.provider.Provider;
import org.gradle.api.tasks.TaskProvider;

/**
 * Instruments the variants of Android apps and dynamic features. It uses the interface {@code androidComponents} of the
 * Android Gradle plugin as it is since 7.4, and nothing that 9.x has removed.
 *
 * <p>For each variant, a task takes the classes of the scope ALL (those of the module, of other modules and of
 * libraries) and returns one jar. D8 or R8 reads this jar. So names are those of the sources, and what R8 does with
 * the calls is as for any other code.
 */
final class AndroidSupport {
    /** The variant that a published mapping is of. */
    static final Attribute<String> VARIANT = Attribute.of("dev.tracegen.variant", String.class);
    /** The type in which the Android Gradle plugin takes the classes of dependencies. */
    private static final String CLASSES_JAR = "android-classes-jar";
    /** The usage of the configurations that publish mappings. */
    static final String MAPPING_USAGE = "tracegen-mapping";

    /** The usage of the configurations that give the scan files of features, and of those that give their slices. */
    private static final String SCANS = "tracegen-scans";
    private static final String SLICES = "tracegen-slices";

    private final Project project;
    private final TracegenExtension extension;
    private final ToolBinary binary;
    private final Set<String> debuggable = new HashSet<>();
    /** The paths of the dynamic features of a base module. */
    private final Set<String> features = new TreeSet<>();

    private AndroidSupport(Project project, TracegenExtension extension, ToolBinary binary) {
        this.project = project;
        this.extension = extension;
        this.binary = binary;
    }

    /** Is called once, after an Android plugin was applied. */
    static void apply(Project project, TracegenExtension extension, ToolBinary binary) {
        AndroidSupport support = new AndroidSupport(project, extension, binary);
        ApplicationAndroidComponentsExtension app =
                project.getExtensions().findByType(ApplicationAndroidComponentsExtension.class);
        if (app != null) {
            app.finalizeDsl(android -> {
                support.read(android);
                support.features.addAll(android.getDynamicFeatures());
                support.register(app);
            });
        }
        DynamicFeatureAndroidComponentsExtension feature =
                project.getExtensions().findByType(DynamicFeatureAndroidComponentsExtension.class);
        if (feature != null) {
            feature.finalizeDsl(android -> {
                support.read(android);
                support.register(feature);
            });
        }
    }

    /** Reads which build types are debuggable, and checks the names of variants. */
    private void read(CommonExtension<?, ?, ?, ?> android) {
        for (BuildType type : android.getBuildTypes()) {
            // The interface of a feature's build types does not say it, but the Android Gradle plugin makes all build
            // types by one class, and itself asks those of features in this way.
            if (type instanceof ApplicationBuildType && ((ApplicationBuildType) type).isDebuggable()) {
                debuggable.add(type.getName());
            }
        }
        List<List<String>> flavors = new ArrayList<>();
        for (String dimension : android.getFlavorDimensions()) {
            List<String> names = new ArrayList<>();
            for (ProductFlavor flavor : android.getProductFlavors()) {
                // If there is one dimension only, a flavour need not name it.
                if (flavor.getDimension() == null || dimension.equals(flavor.getDimension())) {
                    names.add(flavor.getName());
                }
            }
            flavors.add(names);
        }
        VariantNames.check(extension.getVariants().getNames(),
                VariantNames.of(android.getBuildTypes().getNames(), flavors), project.getDisplayName());
    }

    /**
     * Registers for all variants. The Android Gradle plugin calls those who register in the order in which they did.
     * It calls finalizeDsl after all build scripts were evaluated, so this transformation comes after those of other
     * plugins, and their classes are instrumented too.
     */
    private <V extends Variant> void register(AndroidComponentsExtension<?, ?, V> components) {
        // The boot class path may be asked for in onVariants only: Android's plugin 8.13 refuses it before.
        Action<V> configure = variant -> configure(variant, components.getSdkComponents().getBootClasspath());
        components.onVariants(components.selector().all(), configure);
    }

    private void configure(Variant variant, Provider<List<RegularFile>> bootClasspath) {
        TracegenOptions options = optionsOf(variant);
        if (!options.getEnabled().getOrElse(isEnabled(variant))) {
            // The modules of an app ask each other for files in the variants that they instrument.
            if (variant instanceof DynamicFeatureVariant) {
                give(variant, "Scans", SCANS, nothing(variant));
            } else {
                addRuntime(variant, options, false);
                if (!features.isEmpty()) {
                    give(variant, "Slices", SLICES, nothing(variant));
                }
            }
            return;
        }
        if (variant instanceof DynamicFeatureVariant) {
            feature(variant, options, bootClasspath);
            return;
        }
        addRuntime(variant, options, true);
        Provider<Directory> directory =
                project.getLayout().getBuildDirectory().dir("outputs/tracegen/" + variant.getName());
        Provider<RegularFile> mapping = options.getIncremental().get() || !features.isEmpty()
                ? inParts(variant, options, directory, bootClasspath)
                : atOnce(variant, options, directory, bootClasspath);
        publish(variant, mapping);
        collect(variant, mapping, directory);
        upload(variant, mapping);
    }

    /** Registers the task that instruments everything by one run, and returns the mapping that it writes. */
    private Provider<RegularFile> atOnce(Variant variant, TracegenOptions options, Provider<Directory> directory,
            Provider<List<RegularFile>> bootClasspath) {
        TaskProvider<InstrumentClassesTask> task = project.getTasks().register(taskName(variant),
                InstrumentClassesTask.class, t -> {
                    t.setDescription(description(variant));
                    t.use(binary);
                    t.from(options, directory);
                    t.getCompression().set(options.getCompression().orElse("store"));
                    t.getScanOptions().getClasspath().from(bootClasspath);
                });
        variant.getArtifacts().forScope(ScopedArtifacts.Scope.ALL).use(task).toTransform(
                ScopedArtifact.CLASSES.INSTANCE, InstrumentClassesTask::getJars,
                InstrumentClassesTask::getDirectories, InstrumentClassesTask::getOutput);
        task.configure(t -> t.getOutput().set(classesJar(variant, "instrumented")));
        return task.flatMap(InstrumentTask::getMapping);
    }

    /** Registers a transform that scans each dependency, and the task that instruments what has changed. */
    private Provider<RegularFile> inParts(Variant variant, TracegenOptions options, Provider<Directory> directory,
            Provider<List<RegularFile>> bootClasspath) {
        // Variants may have different options, so each has a type of its own.
        String type = ScanTransform.TYPE + "-" + variant.getName();
        project.getDependencies().registerTransform(ScanTransform.class, t -> {
            t.getFrom().attribute(ArtifactTypeDefinition.ARTIFACT_TYPE_ATTRIBUTE, CLASSES_JAR);
            t.getTo().attribute(ArtifactTypeDefinition.ARTIFACT_TYPE_ATTRIBUTE, type);
            t.parameters(p -> {
                p.getExecutable().from(binary.files());
                p.getExecutableContent().from(binary.content());
                p.getToolKey().set(binary.key());
                p.getOptions().from(options);
                p.getOptions().getClasspath().from(bootClasspath);
            });
        });
        FileCollection scans = variant.getRuntimeConfiguration().getIncoming().artifactView(view -> view.getAttributes()
                .attribute(ArtifactTypeDefinition.ARTIFACT_TYPE_ATTRIBUTE, type)).getFiles();
        Configuration featureScans = take(variant, "FeatureScans", SCANS);
        for (String path : features) {
            featureScans.getDependencies().add(
                    project.getDependencies().project(Collections.singletonMap("path", path)));
        }
        TaskProvider<InstrumentClassPartsTask> task = project.getTasks().register(taskName(variant),
                InstrumentClassPartsTask.class, t -> {
                    t.setDescription(description(variant));
                    t.use(binary);
                    t.from(options, directory);
                    t.getCompression().set(options.getCompression().orElse("store"));
                    t.getProjectDirectory().set(project.getRootDir());
                    t.getScanOptions().getClasspath().from(bootClasspath);
                    t.getScans().from(scans);
                    t.getFeatures().set(features);
                    // The task warns of features that have no scan file.
                    t.getFeatureScans().from(featureScans.getIncoming().artifactView(view -> view.setLenient(true))
                            .getFiles());
                    t.getFeatureSlices().set(project.getLayout().getBuildDirectory()
                            .dir("intermediates/tracegen/" + variant.getName() + "/features"));
                    t.getParts().set(project.getLayout().getBuildDirectory()
                            .dir("intermediates/tracegen/" + variant.getName() + "/parts"));
                });
        variant.getArtifacts().forScope(ScopedArtifacts.Scope.ALL).use(task).toTransform(
                ScopedArtifact.CLASSES.INSTANCE, InstrumentClassPartsTask::getJars,
                InstrumentClassPartsTask::getDirectories, InstrumentClassPartsTask::getOutput);
        task.configure(t -> t.getOutput().set(classesJar(variant, "instrumented")));
        if (!features.isEmpty()) {
            give(variant, "Slices", SLICES, task.flatMap(InstrumentClassPartsTask::getFeatureSlices));
        }
        return task.flatMap(InstrumentClassPartsTask::getMapping);
    }

    /**
     * Returns where a transformation writes. Version 8.0 of the Android Gradle plugin lets all transformations of a
     * variant write to the same file, those of other plugins too.
     */
    private Provider<RegularFile> classesJar(Variant variant, String name) {
        return project.getLayout().getBuildDirectory()
                .file("intermediates/tracegen/" + variant.getName() + "/" + name + "/classes.jar");
    }

    private static String taskName(Variant variant) {
        return "tracegen" + capitalized(variant.getName());
    }

    private static String description(Variant variant) {
        return "Instruments the classes of the variant " + variant.getName() + ".";
    }

    private boolean isEnabled(Variant variant) {
        return extension.getEnabled().getOrElse(!debuggable.contains(variant.getBuildType()));
    }

    /** Returns the settings of the variant: those of its name, of a flavour, of its build type, or of all. */
    private TracegenOptions optionsOf(Variant variant) {
        List<String> names = new ArrayList<>();
        names.add(variant.getName());
        names.add(variant.getFlavorName());
        variant.getProductFlavors().forEach(flavor -> names.add(flavor.getSecond()));
        names.add(variant.getBuildType());
        for (String name : names) {
            TracegenVariant found = name == null ? null : extension.getVariants().findByName(name);
            if (found != null) {
                return found;
            }
        }
        return extension;
    }

    /**
     * Adds the runtime, or its no-op twin, so that code that calls its API compiles in every variant.
     *
     * @param records whether the variant is instrumented
     */
    private void addRuntime(Variant variant, TracegenOptions options, boolean records) {
        Configuration implementation = project.getConfigurations().findByName(variant.getName() + "Implementation");
        if (implementation == null) {
            implementation = variant.getRuntimeConfiguration();
        }
        implementation.getDependencies().addAllLater(project.getObjects()
                .listProperty(Dependency.class).value(project.provider(() -> {
                    List<Dependency> list = new ArrayList<>();
                    boolean own = options.getRuntimeExternal().getOrElse(false)
                            || options.getRuntimeClass().isPresent()
                            || options.getPreset().getOrElse("android").equals("matrix");
                    if (own || !options.getRuntimeDependency().getOrElse(true)) {
                        return list;
                    }
                    list.add(dependency(records ? "tracegen-runtime-android" : "tracegen-runtime-noop"));
                    if (records && options.getRuntimeReports().getOrElse(true)) {
                        list.add(dependency("tracegen-runtime-report"));
                    }
                    return list;
                })));
    }

    private Dependency dependency(String artifact) {
        return project.getDependencies().create("dev.tracegen:" + artifact + ":" + TracegenPlugin.version());
    }

    /**
     * Registers two transformations for a feature. The first merges and scans. Its scan file goes to the base module,
     * which assigns the IDs of the app, and its slice comes back. The second instruments by the slice. The projects
     * exchange files by configurations, so no project reads the model of another one.
     */
    private void feature(Variant variant, TracegenOptions options, Provider<List<RegularFile>> bootClasspath) {
        TaskProvider<ScanFeatureTask> scan = project.getTasks().register(
                "tracegenScan" + capitalized(variant.getName()), ScanFeatureTask.class, t -> {
                    t.setDescription("Scans the classes of the variant " + variant.getName() + ".");
                    t.use(binary);
                    t.getScanOptions().from(options);
                    t.getScanOptions().getClasspath().from(bootClasspath);
                    t.getScans().set(project.getLayout().getBuildDirectory()
                            .dir("intermediates/tracegen/" + variant.getName() + "/scans"));
                });
        variant.getArtifacts().forScope(ScopedArtifacts.Scope.ALL).use(scan).toTransform(
                ScopedArtifact.CLASSES.INSTANCE, ScanFeatureTask::getJars, ScanFeatureTask::getDirectories,
                ScanFeatureTask::getOutput);
        scan.configure(t -> t.getOutput().set(classesJar(variant, "merged")));
        give(variant, "Scans", SCANS, scan.flatMap(ScanFeatureTask::getScans));

        Configuration slices = take(variant, "BaseSlices", SLICES);
        slices.getDependencies().addAllLater(project.getObjects().listProperty(Dependency.class)
                .value(project.provider(() -> projects(variant))));
        // The base module is the one that has slices.
        FileCollection found = slices.getIncoming().artifactView(view -> view.setLenient(true)).getFiles();
        TaskProvider<InstrumentFeatureTask> task = project.getTasks().register(taskName(variant),
                InstrumentFeatureTask.class, t -> {
                    t.setDescription(description(variant));
                    t.use(binary);
                    t.getScanOptions().from(options);
                    t.getScanOptions().getClasspath().from(bootClasspath);
                    t.getGrowthLimit().set(Growth.limit(options));
                    t.getSlices().from(found);
                });
        variant.getArtifacts().forScope(ScopedArtifacts.Scope.ALL).use(task).toTransform(
                ScopedArtifact.CLASSES.INSTANCE, InstrumentFeatureTask::getJars,
                InstrumentFeatureTask::getDirectories, InstrumentFeatureTask::getOutput);
        task.configure(t -> t.getOutput().set(classesJar(variant, "instrumented")));
    }

    /** Returns the projects that a feature depends on; one of them is the base module. */
    private static List<Dependency> projects(Variant variant) {
        List<Dependency> projects = new ArrayList<>();
        for (ProjectDependency dependency : variant.getCompileConfiguration().getAllDependencies()
                .withType(ProjectDependency.class)) {
            if (dependency.getTargetConfiguration() == null) {
                projects.add(dependency.copy());
            }
        }
        return projects;
    }

    /** Returns a directory that does not exist: what other modules get of a variant that is not instrumented. */
    private Provider<Directory> nothing(Variant variant) {
        return project.getLayout().getBuildDirectory().dir("intermediates/tracegen/" + variant.getName() + "/none");
    }

    /** Publishes the mapping, so that other projects and plugins can take it. */
    private void publish(Variant variant, Provider<RegularFile> mapping) {
        give(variant, "Mapping", MAPPING_USAGE, mapping);
    }

    /** Creates a configuration from which other projects take a file. */
    private void give(Variant variant, String name, String usage, Provider<? extends FileSystemLocation> file) {
        project.getConfigurations().create("tracegen" + capitalized(variant.getName()) + name + "Elements", c -> {
            c.setDescription("Files of tracegen for the variant " + variant.getName() + ": " + usage + ".");
            c.setVisible(false);
            c.setCanBeResolved(false);
            c.setCanBeConsumed(true);
            attributes(c, variant, usage);
            c.getOutgoing().artifact(file, a -> a.setType(usage));
        });
    }

    /** Creates a configuration that takes the files of other projects. */
    private Configuration take(Variant variant, String name, String usage) {
        return project.getConfigurations().create("tracegen" + capitalized(variant.getName()) + name, c -> {
            c.setDescription("Files of tracegen from other modules for the variant " + variant.getName() + ".");
            c.setVisible(false);
            c.setCanBeConsumed(false);
            c.setCanBeResolved(true);
            c.setTransitive(false);
            attributes(c, variant, usage);
        });
    }

    private void attributes(Configuration c, Variant variant, String usage) {
        c.getAttributes().attribute(Usage.USAGE_ATTRIBUTE, project.getObjects().named(Usage.class, usage));
        // Otherwise what a JVM library offers without a usage, the results of its tests, would fit.
        c.getAttributes().attribute(Category.CATEGORY_ATTRIBUTE,
                project.getObjects().named(Category.class, "tracegen"));
        c.getAttributes().attribute(VARIANT, variant.getName());
    }

    /** Registers the task that puts the mapping beside that of R8. */
    private void collect(Variant variant, Provider<RegularFile> mapping, Provider<Directory> directory) {
        project.getTasks().register("collectTracegen" + capitalized(variant.getName()) + "Mapping",
                CollectMappingTask.class, t -> {
                    t.setGroup(TracegenPlugin.GROUP);
                    t.setDescription("Copies the mappings of the variant " + variant.getName() + ".");
                    t.getMapping().set(mapping);
                    // R8's mapping is copied to build/outputs only when the app is packaged. A task that reads it from
                    // there without this input may take that of the last build.
                    t.getR8Mapping().set(variant.getArtifacts().get(SingleArtifact.OBFUSCATION_MAPPING_FILE.INSTANCE));
                    t.getDirectory().set(directory.map(d -> d.dir("mappings")));
                });
    }

    /** Registers the task that puts the mapping and that of R8 into an archive. */
    private void upload(Variant variant, Provider<RegularFile> mapping) {
        project.getTasks().register("uploadTracegen" + capitalized(variant.getName()) + "Mapping",
                UploadMappingTask.class, t -> {
                    t.setDescription("Puts the mappings of the variant " + variant.getName() + " into the archive.");
                    t.use(binary);
                    t.from(extension, mapping);
                    t.getVariant().set(variant.getName());
                    t.getVersion().set(((ApplicationVariant) variant).getOutputs().get(0).getVersionName());
                    t.getR8Mapping().set(variant.getArtifacts().get(SingleArtifact.OBFUSCATION_MAPPING_FILE.INSTANCE));
                });
    }
}
