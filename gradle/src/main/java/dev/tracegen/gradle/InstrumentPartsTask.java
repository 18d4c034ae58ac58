package dev.tracegen.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import javax.inject.Inject;

import org.gradle.api.GradleException;
import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.DirectoryProperty;
import org.gradle.api.file.FileSystemOperations;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.logging.Logging;
import org.gradle.api.provider.ListProperty;
import org.gradle.api.provider.Property;
import org.gradle.api.tasks.CacheableTask;
import org.gradle.api.tasks.Classpath;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.InputDirectory;
import org.gradle.api.tasks.Nested;
import org.gradle.api.tasks.Optional;
import org.gradle.api.tasks.OutputDirectory;
import org.gradle.api.tasks.OutputFile;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;
import org.gradle.api.tasks.TaskAction;
import org.gradle.process.ExecOperations;
import org.gradle.workers.WorkAction;
import org.gradle.workers.WorkParameters;
import org.gradle.workers.WorkerExecutor;

/**
 * Instruments the parts of a class path, each by {@code tracegen instrument --slice}. If the task has run before, only
 * the parts whose content or slice has changed are instrumented again. The outputs are those of
 * {@link InstrumentJarsTask}.
 */
@CacheableTask
public abstract class InstrumentPartsTask extends TracegenTask {
    /**
     * Jars and directories, in the order of the class path.
     *
     * @return the files
     */
    @Classpath
    public abstract ConfigurableFileCollection getClasses();

    /**
     * The slices that {@link AssignTask} has written.
     *
     * @return the directory
     */
    @InputDirectory
    @PathSensitive(PathSensitivity.RELATIVE)
    public abstract DirectoryProperty getSlices();

    /**
     * The options of the scan: where classes are found. The other decisions are in the slices.
     *
     * @return the options
     */
    @Nested
    public abstract ScanOptions getScanOptions();

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
     * The directory into which the instrumented class path is written.
     *
     * @return the directory
     */
    @OutputDirectory
    public abstract DirectoryProperty getLibraries();

    /**
     * What the outputs were made of, as hashes. It is an output, so that it is there when the outputs were taken from
     * the build cache.
     *
     * @return the file
     */
    @OutputFile
    public abstract RegularFileProperty getStateFile();

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

    @TaskAction
    void instrument() {
        File directory = getLibraries().get().getAsFile();
        Map<String, File> slices = new HashMap<>();
        for (File slice : getSlices().getAsFileTree()) {
            slices.put(PartKey.ofName(slice), slice);
        }
        String common = commonState();
        Map<String, String> before = load();
        Map<String, String> after = new TreeMap<>();
        Map<File, String> names = Layout.names(getClasses());
        deleteOthers(directory, new HashSet<>(names.values()));
        // Without the state a build that fails would keep outputs that are not those of their inputs.
        getFiles().delete(spec -> spec.delete(getStateFile()));
        ToolRunner runner = runner();
        int reused = 0;
        for (Map.Entry<File, String> entry : names.entrySet()) {
            File part = entry.getKey();
            File output = new File(directory, entry.getValue());
            if (!Layout.isPart(part)) {
                getFiles().delete(spec -> spec.delete(output));
                Layout.copy(part, output);
                continue;
            }
            String key = PartKey.of(part);
            File slice = slices.get(key);
            if (slice == null) {
                throw new GradleException(part + " was not scanned, or has changed since: there is no slice with the"
                        + " key " + key + " in " + getSlices().get() + ". Run the build again.");
            }
            String made = common + PartKey.ofAll(part) + PartKey.hash(slice);
            if (part.isFile() && output.isFile()
                    && (made + PartKey.hash(output)).equals(before.get(entry.getValue()))) {
                reused++;
                after.put(entry.getValue(), before.get(entry.getValue()));
                continue;
            }
            after.put(entry.getValue(), made);
            getFiles().delete(spec -> spec.delete(output));
            getWorkers().noIsolation().submit(Work.class, work -> {
                work.getExecutable().set(runner.executable());
                work.getDirectory().set(getTemporaryDir());
                work.getSubject().set(part.getName());
                work.getArguments().set(arguments(part, slice, output));
            });
        }
        getWorkers().await();
        getLogger().info("{} of {} parts are unchanged", reused, names.size());
        Layout.write(directory, names.values());
        save(after, before, directory);
        List<File> inputs = new ArrayList<>();
        List<File> outputs = new ArrayList<>();
        names.forEach((part, name) -> {
            // As in one run, the runtime is no class of the program.
            if (Layout.isPart(part) && !part.getName().equals(Layout.RUNTIME)) {
                inputs.add(part);
                outputs.add(new File(directory, name));
            }
        });
        Growth.check(getGrowthLimit().get(), inputs, outputs);
    }

    private List<String> arguments(File part, File slice, File output) {
        List<String> arguments = new ArrayList<>();
        Collections.addAll(arguments, "instrument", "--slice=" + slice, part.getPath(), "--output=" + output,
                "--cache=" + getCache().get(), "--quiet");
        Flags.add(arguments, "--compression", getCompression());
        arguments.addAll(getScanOptions().classpath(true));
        return arguments;
    }

    /** Returns what all outputs depend on. */
    private String commonState() {
        StringBuilder text = new StringBuilder();
        for (File file : getExecutableContent()) {
            text.append(PartKey.hash(file)).append(' ');
        }
        text.append(getToolKey().get()).append(' ').append(getCompression().getOrNull()).append(' ');
        text.append(getScanOptions().getJdkVersion().getOrNull());
        for (File file : getScanOptions().getClasspath()) {
            text.append(' ').append(file.isFile() ? PartKey.hash(file) : file.getPath());
        }
        return PartKey.hash(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private void deleteOthers(File directory, Set<String> names) {
        File[] files = directory.listFiles();
        if (files == null) {
            return;
        }
        for (File file : files) {
            if (!names.contains(file.getName())) {
                getFiles().delete(spec -> spec.delete(file));
            }
        }
    }

    private Map<String, String> load() {
        Map<String, String> state = new TreeMap<>();
        File file = getStateFile().get().getAsFile();
        if (file.isFile()) {
            try {
                for (String line : Files.readAllLines(file.toPath(), StandardCharsets.UTF_8)) {
                    String[] hashAndName = line.split(" ", 2);
                    if (hashAndName.length == 2) {
                        state.put(hashAndName[1], hashAndName[0]);
                    }
                }
            } catch (IOException e) {
                getLogger().info("{} cannot be read: all parts are instrumented again ({})", file, e.getMessage());
                state.clear();
            }
        }
        return state;
    }

    private void save(Map<String, String> state, Map<String, String> before, File directory) {
        StringBuilder text = new StringBuilder();
        state.forEach((name, made) -> {
            File output = new File(directory, name);
            boolean reused = made.equals(before.get(name));
            if (output.isFile()) {
                text.append(reused ? made : made + PartKey.hash(output)).append(' ').append(name).append('\n');
            }
        });
        File file = getStateFile().get().getAsFile();
        try {
            Files.createDirectories(file.getParentFile().toPath());
            Files.write(file.toPath(), text.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new GradleException("Cannot write " + file + ": " + e.getMessage(), e);
        }
    }

    /** What one process gets. */
    public interface Parameters extends WorkParameters {
        /**
         * The binary.
         *
         * @return the file
         */
        Property<File> getExecutable();

        /**
         * The working directory.
         *
         * @return the directory
         */
        Property<File> getDirectory();

        /**
         * What is instrumented, for messages.
         *
         * @return the name
         */
        Property<String> getSubject();

        /**
         * The command and its arguments.
         *
         * @return the arguments
         */
        ListProperty<String> getArguments();
    }

    /** One process. */
    public abstract static class Work implements WorkAction<Parameters> {
        /**
         * Runs processes.
         *
         * @return the service
         */
        @Inject
        protected abstract ExecOperations getExec();

        @Override
        public void execute() {
            Parameters parameters = getParameters();
            new ToolRunner(getExec(), Logging.getLogger(InstrumentPartsTask.class), parameters.getExecutable().get(),
                    parameters.getDirectory().get())
                    .run(parameters.getSubject().get(), parameters.getArguments().get());
        }
    }
}
