package dev.tracegen.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.ListProperty;
import org.gradle.api.provider.MapProperty;
import org.gradle.api.provider.Property;
import org.gradle.api.tasks.CompileClasspath;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.InputFile;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.Optional;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;

/**
 * The options that decide about each class by itself, for {@code instrument} and {@code scan}. A scan file depends on
 * its part, on these, and on the binary, and on nothing else.
 */
public abstract class ScanOptions {
    @Input
    @Optional
    public abstract Property<String> getExits();

    @Input
    @Optional
    public abstract Property<String> getTrivial();

    @Input
    @Optional
    public abstract Property<String> getPreset();

    @Input
    @Optional
    public abstract Property<String> getVerify();

    @Input
    @Optional
    public abstract Property<String> getTarget();

    @Input
    @Optional
    public abstract Property<String> getRuntimeClass();

    /** Values of options, by their names, for those that are set neither here nor in {@link #getConfig()}. */
    @Input
    public abstract MapProperty<String, String> getDefaults();

    /** Further options that {@code scan} has too. */
    @Input
    public abstract ListProperty<String> getArguments();

    @InputFile
    @Optional
    @PathSensitive(PathSensitivity.NONE)
    public abstract RegularFileProperty getConfig();

    /** The files that {@link #getConfig()} includes, and its profiles. */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public abstract ConfigurableFileCollection getIncluded();

    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public abstract ConfigurableFileCollection getBlocklist();

    /** Where the type check finds classes: android.jar and what the user adds. Only what others see of them matters. */
    @CompileClasspath
    public abstract ConfigurableFileCollection getClasspath();

    /** The home of the JDK whose classes the type check finds. Its version is the input. */
    @Internal
    public abstract Property<String> getJdkHome();

    @Input
    @Optional
    public abstract Property<String> getJdkVersion();

    /** Takes the values of a variant. */
    void from(TracegenOptions options) {
        getExits().set(options.getExits());
        getTrivial().set(options.getTrivial());
        getPreset().set(options.getPreset());
        getVerify().set(options.getVerify());
        getTarget().set(options.getTarget());
        getRuntimeClass().set(options.getRuntimeClass());
        getArguments().set(options.getArguments().map(all -> Flags.of("scan", all)));
        getConfig().set(options.getConfig());
        // An absent provider is no empty collection of files.
        getIncluded().from(options.getConfig().map(new ConfigFile.Includes()).orElse(Collections.emptySet()));
        getBlocklist().from(options.getBlocklist());
        getClasspath().from(options.getClasspath());
    }

    /** Returns the arguments for {@code scan} and {@code instrument}. */
    List<String> arguments() {
        List<String> list = new ArrayList<>(rules());
        Flags.add(list, "--exits", getExits());
        Flags.set(list, "trivial", getTrivial());
        Flags.add(list, "--preset", getPreset());
        Flags.add(list, "--verify", getVerify());
        Flags.add(list, "--target", getTarget());
        Flags.add(list, "--runtime-class", getRuntimeClass());
        for (Map.Entry<String, String> option : new TreeMap<>(getDefaults().get()).entrySet()) {
            String flag = "--" + option.getKey() + "=";
            boolean set = list.stream().anyMatch(argument -> argument.startsWith(flag))
                    || getConfig().isPresent() && ConfigFile.sets(getConfig().get().getAsFile(), option.getKey());
            if (!set) {
                list.add(flag + option.getValue());
            }
        }
        list.addAll(classpath(true));
        list.addAll(getArguments().get());
        return list;
    }

    /** Returns the arguments that name rules, which {@code assign} takes too. */
    List<String> rules() {
        List<String> list = new ArrayList<>();
        if (getConfig().isPresent()) {
            list.add("--config=" + ConfigFile.check(getConfig().get().getAsFile()));
        }
        for (File file : getBlocklist()) {
            list.add("--blocklist=" + file);
        }
        return list;
    }

    /**
     * Returns the arguments that say where classes are found.
     *
     * @param jdk whether the command takes {@code --jdk}
     */
    List<String> classpath(boolean jdk) {
        List<String> list = new ArrayList<>();
        if (!getClasspath().isEmpty()) {
            list.add("--classpath=" + getClasspath().getFiles().stream().map(File::getPath)
                    .collect(Collectors.joining(File.pathSeparator)));
        }
        if (jdk && getJdkHome().isPresent()) {
            list.add("--jdk=" + getJdkHome().get());
        }
        return list;
    }
}
