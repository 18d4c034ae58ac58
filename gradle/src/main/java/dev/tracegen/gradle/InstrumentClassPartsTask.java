package dev.tracegen.gradle;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import javax.inject.Inject;

import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.Directory;
import org.gradle.api.file.DirectoryProperty;
import org.gradle.api.file.FileSystemOperations;
import org.gradle.api.file.RegularFile;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.ListProperty;
import org.gradle.api.provider.Property;
import org.gradle.api.provider.Provider;
import org.gradle.api.provider.SetProperty;
import org.gradle.api.tasks.CacheableTask;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.Nested;
import org.gradle.api.tasks.Optional;
import org.gradle.api.tasks.OutputDirectory;
import org.gradle.api.tasks.OutputFile;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.api.tasks.TaskAction;
import org.gradle.workers.WorkerExecutor;

/**
 * Instruments all classes of an Android variant in parts: what {@link ScanTransform} has scanned is not scanned again,
 * and a part that an earlier run has instrumented by an equal slice is not instrumented again. The outputs are those of
 * {@link InstrumentClassesTask}, but that the report has no calls and sizes.
 *
 * <p>All steps are in one task, because the Android Gradle plugin hands the classes of the scope ALL to the task that
 * transforms them and to no other. This task finds the scan file of an input by {@link PartKey}, and scans an input
 * that has none: the classes of the module itself, and what another plugin has made.
 */
@CacheableTask
public abstract class InstrumentClassPartsTask extends TracegenTask {
    /**
     * The jars. Their order differs between versions of the Android Gradle plugin; IDs do not depend on it.
     *
     * @return the files
     */
    @Classpath
    public abstract ListProperty<RegularFile> getJars();

    /**
     * The directories of classes.
     *
     * @return the directories
     */
    @Classpath
    public abstract ListProperty<Directory> getDirectories();

    /**
     * The scan files that exist.
     *
     * @return the files
     */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public abstract ConfigurableFileCollection getScans();

    /**
     * The scan files of dynamic features, whose methods get IDs of the same mapping.
     *
     * @return the files
     */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public abstract ConfigurableFileCollection getFeatureScans();

    /**
     * The paths of the dynamic features.
     *
     * @return the paths
     */
    @Input
    public abstract SetProperty<String> getFeatures();

    /**
     * The directory of the slices of dynamic features.
     *
     * @return the directory
     */
    @OutputDirectory
    public abstract DirectoryProperty getFeatureSlices();

    /**
     * The options that decide about classes one by one.
     *
     * @return the options
     */
    @Nested
    public abstract ScanOptions getScanOptions();

    /**
     * The options that need the whole.
     *
     * @return the options
     */
    @Nested
    public abstract AssignOptions getAssignOptions();

    /**
     * How entries that change are compressed.
     *
     * @return the property
     */
    @Input
    @Optional
    public abstract Property<String> getCompression();

    /**
     * By how many percent the class files may grow.
     *
     * @return the limit, infinite if there is none
     */
    @Input
    public abstract Property<Double> getGrowthLimit();

    /**
     * The jar that is written. The Android Gradle plugin says where.
     *
     * @return the file
     */
    @OutputFile
    public abstract RegularFileProperty getOutput();

    /**
     * The method mapping that is written.
     *
     * @return the file
     */
    @OutputFile
    public abstract RegularFileProperty getMapping();

    /**
     * The report that is written, as JSON.
     *
     * @return the file
     */
    @OutputFile
    public abstract RegularFileProperty getReport();

    /**
     * The table of skipped methods with their reasons that is written.
     *
     * @return the file
     */
    @OutputFile
    public abstract RegularFileProperty getSkipped();

    /**
     * The directory of instrumented parts. The name of each has the hash of all that it depends on. It is an output, so
     * that the parts are there when the build cache had the outputs.
     *
     * @return the directory
     */
    @OutputDirectory
    public abstract DirectoryProperty getParts();

    /** The directory to which file names in reports are relative. */
    @Internal
    abstract Property<File> getProjectDirectory();

    /**
     * Deletes files.
     *
     * @return the service
     */
    @Inject
    protected abstract FileSystemOperations getFiles();

    /**
     * Runs several processes at once.
     *
     * @return the service
     */
    @Inject
    protected abstract WorkerExecutor getWorkers();

    /** Takes the values of a variant, and writes below a directory. */
    void from(TracegenOptions options, Provider<Directory> directory) {
        getScanOptions().from(options);
        getAssignOptions().from(options);
        getGrowthLimit().set(Growth.limit(options));
        getMapping().set(directory.map(d -> d.file("methodMapping.txt")));
        getReport().set(directory.map(d -> d.file("report.json")));
        getSkipped().set(directory.map(d -> d.file("skipped.tsv")));
    }

    @TaskAction
    void instrument() {
        File work = getTemporaryDir();
        getFiles().delete(spec -> spec.delete((Object[]) work.listFiles()));
        Map<File, String> keys = new LinkedHashMap<>();
        for (File input : InstrumentClassesTask.inputs(getJars().get(), getDirectories().get())) {
            keys.put(input, PartKey.of(input));
        }
        Map<String, File> scans = scans(keys, new File(work, "scans"));
        File slices = new File(work, "slices");
        List<File> parts = new ArrayList<>(scans.values());
        List<File> features = new ArrayList<>(getFeatureScans().getAsFileTree().getFiles());
        parts.addAll(features);
        if (features.size() < getFeatures().get().size()) {
            getLogger().warn("tracegen: {} of the dynamic features {} are instrumented in this variant. Apply the"
                    + " plugin dev.tracegen in all of them, and enable the variant there too: tracegen {"
                    + " variants { ... { enabled = true } } }.", features.size(), getFeatures().get());
        }
        assign(parts, slices);
        getFiles().sync(spec -> {
            spec.into(getFeatureSlices());
            for (File scan : features) {
                spec.from(new File(slices, scan.getName().replaceFirst("\\.scan$", ".slice")));
            }
        });
        Map<String, String> pieces = instrument(keys, slices, new File(work, "directories"));
        merge(pieces);
        // Inputs of the same content have one piece.
        Map<String, File> inputs = new HashMap<>();
        keys.forEach((input, key) -> inputs.put(key, input));
        Growth.check(getGrowthLimit().get(), inputs.values(), pieces.keySet().stream().map(File::new)
                .collect(Collectors.toList()));
    }

    /** Returns a scan file for each key. It scans the inputs that have none. */
    private Map<String, File> scans(Map<File, String> keys, File directory) {
        Map<String, File> made = new HashMap<>();
        for (File scan : getScans().getAsFileTree()) {
            made.put(PartKey.ofName(scan), scan);
        }
        Map<String, File> scans = new TreeMap<>();
        int scanned = 0;
        for (Map.Entry<File, String> input : keys.entrySet()) {
            String key = input.getValue();
            if (scans.containsKey(key)) {
                continue;
            }
            File scan = made.get(key);
            if (scan == null) {
                File file = scan = new File(directory, PartKey.stem(input.getKey()) + ".scan");
                scanned++;
                List<String> arguments = new ArrayList<>();
                Collections.addAll(arguments, "scan", input.getKey().getPath(), "--output=" + file, "--quiet");
                arguments.addAll(getScanOptions().arguments());
                submit(input.getKey().getName(), arguments);
            }
            scans.put(key, scan);
        }
        getWorkers().await();
        getLogger().info("{} of {} inputs were scanned before", scans.size() - scanned, scans.size());
        return scans;
    }

    private void assign(Collection<File> scans, File slices) {
        List<String> paths = new ArrayList<>();
        for (File scan : scans) {
            paths.add(scan.getPath());
        }
        ToolRunner runner = runner();
        Reports reports = new Reports(getTemporaryDir());
        List<String> arguments = new ArrayList<>();
        Collections.addAll(arguments, "assign", runner.argumentFile("scans.txt", paths), "--slices=" + slices,
                "--output=" + getMapping().get(), reports.argument());
        arguments.addAll(getScanOptions().rules());
        arguments.addAll(getScanOptions().classpath(false));
        arguments.addAll(getAssignOptions().assign());
        try {
            runner.run("the variant's classes", arguments);
        } finally {
            reports.copy(getReport(), getSkipped(), Collections.emptyMap(), getProjectDirectory().get());
        }
    }

    /** Returns the instrumented inputs, in the order of the inputs, each with the name of its input. */
    private Map<String, String> instrument(Map<File, String> keys, File slices, File directories) {
        Map<String, File> byKey = new HashMap<>();
        for (File slice : slices.listFiles()) {
            byKey.put(PartKey.ofName(slice), slice);
        }
        String common = PartKey.hash(getExecutable().getSingleFile()) + getCompression().getOrElse("");
        Map<String, String> pieces = new LinkedHashMap<>();
        int reused = 0;
        for (Map.Entry<File, String> entry : keys.entrySet()) {
            File input = entry.getKey();
            File slice = byKey.get(entry.getValue());
            File piece;
            if (input.isDirectory()) {
                piece = new File(directories, String.valueOf(pieces.size()));
            } else {
                String name = common + PartKey.ofAll(input) + PartKey.hash(slice);
                piece = getParts().file(PartKey.hash(name.getBytes(StandardCharsets.UTF_8)) + ".jar").get()
                        .getAsFile();
            }
            if (piece.isFile() || pieces.containsKey(piece.getPath())) {
                reused++;
            } else {
                List<String> arguments = new ArrayList<>();
                Collections.addAll(arguments, "instrument", "--slice=" + slice, input.getPath(), "--output=" + piece,
                        "--cache=" + getCache().get(), "--quiet");
                Flags.add(arguments, "--compression", getCompression());
                arguments.addAll(getScanOptions().classpath(true));
                submit(input.getName(), arguments);
            }
            pieces.put(piece.getPath(), input.getName());
        }
        getWorkers().await();
        getLogger().info("{} of {} inputs were instrumented before here; results of other workspaces are in {}", reused,
                keys.size(), getCache().get());
        deleteOthers(pieces.keySet());
        return pieces;
    }

    /**
     * Merges the instrumented inputs as {@code tracegen instrument --merge} does, and changes no class. Entries that
     * are left out are in the report, and no warning: two classes of one name fail the Android Gradle plugin's own
     * check, and it takes resources from elsewhere.
     */
    private void merge(Map<String, String> pieces) {
        ToolRunner runner = runner().quiet();
        File report = new File(getTemporaryDir(), "merge.json");
        List<String> arguments = new ArrayList<>();
        Collections.addAll(arguments, "instrument", runner.argumentFile("pieces.txt", pieces.keySet()), "--disabled",
                "--merge", "--output=" + getOutput().get(), "--mapping=" + new File(getTemporaryDir(), "none.txt"),
                "--report=" + report, "--quiet");
        Flags.add(arguments, "--compression", getCompression());
        runner.run("the instrumented classes", arguments);
        Reports.takeLeftOut(report, pieces, getReport().get().getAsFile());
    }

    private void submit(String subject, List<String> arguments) {
        File executable = runner().executable();
        getWorkers().noIsolation().submit(InstrumentPartsTask.Work.class, work -> {
            work.getExecutable().set(executable);
            work.getDirectory().set(getTemporaryDir());
            work.getSubject().set(subject);
            work.getArguments().set(arguments);
        });
    }

    private void deleteOthers(Set<String> pieces) {
        File[] files = getParts().get().getAsFile().listFiles();
        if (files == null) {
            return;
        }
        for (File file : files) {
            if (!pieces.contains(file.getPath())) {
                getFiles().delete(spec -> spec.delete(file));
            }
        }
    }
}
