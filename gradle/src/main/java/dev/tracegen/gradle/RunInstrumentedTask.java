package dev.tracegen.gradle;

import java.io.File;

import org.gradle.api.GradleException;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.MapProperty;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.JavaExec;
import org.gradle.work.DisableCachingByDefault;

/** Runs the instrumented program, and records it. All settings of {@link JavaExec} apply. */
@DisableCachingByDefault(because = "It runs a program.")
public abstract class RunInstrumentedTask extends JavaExec {
    /**
     * The recording that is written.
     *
     * @return the file
     */
    @Internal
    public abstract RegularFileProperty getRecording();

    /**
     * The mapping, with which the runtime names methods and finds those whose calls are messages.
     *
     * @return the file
     */
    @Internal
    public abstract RegularFileProperty getMapping();

    /**
     * Settings of the runtime, without {@code tracegen.}: {@code threads: 'all', slow: '100'}. docs/recording.md lists
     * them.
     *
     * @return the settings
     */
    @Input
    public abstract MapProperty<String, String> getRecordingOptions();

    @Override
    public void exec() {
        File recording = getRecording().get().getAsFile();
        File directory = recording.getParentFile();
        if (!directory.isDirectory() && !directory.mkdirs()) {
            throw new GradleException("Cannot create the directory of the recording, " + directory + ".");
        }
        systemProperty("tracegen.output", recording.getPath());
        systemProperty("tracegen.mapping", getMapping().get().getAsFile().getPath());
        getRecordingOptions().get().forEach((name, value) -> systemProperty("tracegen." + name, value));
        super.exec();
    }
}
