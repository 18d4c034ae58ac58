package dev.tracegen.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.gradle.api.file.ConfigurableFileCollection;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.ListProperty;
import org.gradle.api.provider.Property;
import org.gradle.api.provider.SetProperty;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.InputFile;
import org.gradle.api.tasks.InputFiles;
import org.gradle.api.tasks.Optional;
import org.gradle.api.tasks.PathSensitive;
import org.gradle.api.tasks.PathSensitivity;

/** The options that decide about the whole, for {@code instrument} and {@code assign}. */
public abstract class AssignOptions {
    @InputFile
    @Optional
    @PathSensitive(PathSensitivity.NONE)
    public abstract RegularFileProperty getBase();

    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    public abstract ConfigurableFileCollection getPrune();

    @Input
    @Optional
    public abstract Property<Boolean> getRuntimeExternal();

    @Input
    @Optional
    public abstract SetProperty<String> getFailOn();

    @Input
    @Optional
    public abstract Property<Double> getMaxGrowth();

    @Input
    @Optional
    public abstract Property<Double> getMinMethodsRatio();

    @Input
    @Optional
    public abstract Property<String> getExpectDigest();

    /** All further options; each command takes its own. */
    @Input
    public abstract ListProperty<String> getArguments();

    /** Takes the values of a variant. */
    void from(TracegenOptions options) {
        getBase().set(options.getBase());
        getPrune().from(options.getPrune());
        getRuntimeExternal().set(options.getRuntimeExternal());
        getFailOn().set(options.getFailOn());
        getMaxGrowth().set(options.getMaxGrowth());
        getMinMethodsRatio().set(options.getMinMethodsRatio());
        getExpectDigest().set(options.getExpectDigest());
        getArguments().set(options.getArguments());
    }

    /** Returns the arguments for {@code instrument}. */
    List<String> instrument() {
        List<String> list = common();
        for (String guard : getFailOn().getOrElse(Collections.emptySet())) {
            list.add("--guard=" + guard);
        }
        limits(list);
        Flags.guard(list, "growth", getMaxGrowth());
        list.addAll(Flags.of("instrument", getArguments().get()));
        return list;
    }

    /** Returns the arguments for {@code assign}, which does not know the sizes of classes; see {@link Growth}. */
    List<String> assign() {
        List<String> list = common();
        for (String guard : getFailOn().getOrElse(Collections.emptySet())) {
            String name = guard.split("=", 2)[0];
            if (!name.equals("growth")) {
                list.add("--guard=" + guard);
            }
        }
        limits(list);
        list.addAll(Flags.of("assign", getArguments().get()));
        return list;
    }

    /** Appends the guards with limits that both commands have. A limit replaces that of an earlier argument. */
    private void limits(List<String> list) {
        Flags.guard(list, "ratio", getMinMethodsRatio());
        Flags.guard(list, "digest", getExpectDigest());
    }

    private List<String> common() {
        List<String> list = new ArrayList<>();
        if (getBase().isPresent()) {
            list.add("--base=" + getBase().get());
        }
        for (File file : getPrune()) {
            list.add("--prune=" + file);
        }
        if (getRuntimeExternal().getOrElse(false)) {
            list.add("--runtime-external");
        }
        return list;
    }
}
