package dev.tracegen.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Analyzes a recording of the instrumented program: prints its stalls, and writes the page target/tracegen/report.html.
 */
@Mojo(name = "analyze", threadSafe = true)
public final class AnalyzeMojo extends AbstractTracegenMojo {
  /** The recording, a file or a directory of recordings. */
  @Parameter(property = "tracegen.recording", required = true)
  private File recording;

  /** More arguments of tracegen analyze, for instance --slow 100. */
  @Parameter(property = "tracegen.analyzeArguments")
  private List<String> analyzeArguments = Collections.emptyList();

  /** Creates the goal with its defaults. Maven sets the parameters. */
  public AnalyzeMojo() {}

  @Override
  void run() throws MojoExecutionException, MojoFailureException {
    if (!recording.exists()) {
      throw new MojoExecutionException(recording + " does not exist: run the instrumented program with"
          + " -Dtracegen.output=FILE, and set the parameter recording (-Dtracegen.recording) to that file");
    }
    if (!mappingFile().isFile()) {
      throw new MojoExecutionException(mappingFile() + " does not exist: run the goal instrument before analyze");
    }
    List<String> command = new ArrayList<>(
        Arrays.asList("analyze", recording.getPath(), "--mapping", mappingFile().getPath()));
    command.addAll(analyzeArguments);
    Tool tool = tool();
    tool.run(command, getLog()::info);
    File page = new File(outputDirectory, "report.html");
    command.addAll(Arrays.asList("--format", "html", "--output", page.getPath()));
    tool.run(command, getLog()::info);
    getLog().info("the page is " + page);
  }
}
