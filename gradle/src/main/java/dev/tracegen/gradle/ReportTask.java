package dev.tracegen.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.gradle.api.GradleException;
import org.gradle.api.file.RegularFileProperty;
import org.gradle.api.provider.ListProperty;
import org.gradle.api.tasks.Input;
import org.gradle.api.tasks.Internal;
import org.gradle.api.tasks.TaskAction;
import org.gradle.api.tasks.UntrackedTask;

/** Analyzes the last recording of {@link RunInstrumentedTask}: prints its stalls, and writes a page for a browser. */
@UntrackedTask(because = "A recording is written by a program at any time.")
public abstract class ReportTask extends TracegenTask {
    /**
     * The recording.
     *
     * @return the file
     */
    @Internal
    public abstract RegularFileProperty getRecording();

    /**
     * The mapping of the instrumented program.
     *
     * @return the file
     */
    @Internal
    public abstract RegularFileProperty getMapping();

    /**
     * The page that is written.
     *
     * @return the file
     */
    @Internal
    public abstract RegularFileProperty getPage();

    /**
     * Further options of {@code tracegen analyze}.
     *
     * @return the options
     */
    @Input
    public abstract ListProperty<String> getArguments();

    @TaskAction
    void analyze() {
        File recording = getRecording().get().getAsFile();
        if (!recording.isFile()) {
            throw new GradleException("There is no recording " + recording + ". The task runInstrumented writes one.");
        }
        List<String> common = new ArrayList<>(Arrays.asList("analyze", recording.getPath(),
                "--mapping=" + getMapping().get().getAsFile()));
        common.addAll(getArguments().get());
        List<String> page = new ArrayList<>(common);
        page.addAll(Arrays.asList("--format=html", "--output=" + getPage().get().getAsFile()));
        ToolRunner runner = runner().loud();
        runner.run("the recording", common);
        runner.run("the recording", page);
        getLogger().lifecycle("page: {}", getPage().get().getAsFile());
    }
}
