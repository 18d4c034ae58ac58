package dev.tracegen.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;

/**
 * Instruments the project's jar and the jars that it needs at run time into target/tracegen/app, which is a complete
 * class path. The project's own jar does not change. One mapping describes all of them.
 */
@Mojo(
    name = "instrument",
    defaultPhase = LifecyclePhase.PACKAGE,
    requiresDependencyResolution = ResolutionScope.COMPILE_PLUS_RUNTIME,
    threadSafe = true)
public final class InstrumentMojo extends AbstractInstrumentMojo {
  /**
   * Whether dependencies are instrumented too. If not, only the project's jar and the runtime are written, and
   * dependencies are only the class path in which classes are looked up.
   */
  @Parameter(property = "tracegen.includeDependencies", defaultValue = "true")
  private boolean includeDependencies;

  /** Creates the goal with its defaults. Maven sets the parameters. */
  public InstrumentMojo() {}

  @Override
  void run() throws MojoExecutionException, MojoFailureException {
    if ("pom".equals(project.getPackaging())) {
      getLog().info("the project has the packaging pom: there is nothing to instrument");
      return;
    }
    if (project.getBuild().getOutputDirectory().equals(instrumentedClasses().getPath())) {
      throw new MojoExecutionException("the goal instrument-classes has instrumented the classes of this jar already:"
          + " remove one of the two goals from the module");
    }
    File main = project.getArtifact().getFile();
    if (main == null || !main.isFile()) {
      throw new MojoExecutionException("the project has no jar yet: bind the goal instrument to the phase package,"
          + " or run mvn package tracegen:instrument");
    }
    Tool tool = tool();
    Set<File> inputs = new LinkedHashSet<>();
    List<File> classPath = new ArrayList<>();
    inputs.add(main);
    for (Artifact a : project.getArtifacts()) {
      boolean atRunTime = Artifact.SCOPE_COMPILE.equals(a.getScope()) || Artifact.SCOPE_RUNTIME.equals(a.getScope());
      if (!a.getArtifactHandler().isAddedToClasspath()) {
        continue;
      }
      if (!atRunTime || !includeDependencies) {
        classPath.add(a.getFile());
      } else if (a.getFile().isDirectory()) {
        throw new MojoExecutionException(
            a + " is a module of this build that is not packaged: run at least mvn package");
      } else {
        inputs.add(a.getFile());
      }
    }
    inputs.add(runtime(tool));
    File app = new File(outputDirectory, "app");
    Set<String> names = inputs.stream().map(File::getName).collect(Collectors.toSet());
    instrument(tool, new ArrayList<>(inputs), app, names, classPath);
    if (attach) {
      attach("jar", "instrumented", new File(app, main.getName()));
    }
  }
}
