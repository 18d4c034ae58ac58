package dev.tracegen.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.ResolutionScope;

/**
 * Instruments the project's classes into target/tracegen/classes, together with the runtime, and makes this directory
 * the project's output directory for the rest of the build. So tests run the instrumented classes, and every plugin
 * packages them. target/classes does not change, so that the compiler keeps its incremental builds.
 */
@Mojo(
    name = "instrument-classes",
    defaultPhase = LifecyclePhase.PROCESS_CLASSES,
    requiresDependencyResolution = ResolutionScope.COMPILE_PLUS_RUNTIME,
    threadSafe = true)
public final class InstrumentClassesMojo extends AbstractInstrumentMojo {
  /** Creates the goal with its defaults. Maven sets the parameters. */
  public InstrumentClassesMojo() {}

  @Override
  void run() throws MojoExecutionException, MojoFailureException {
    File classes = new File(project.getBuild().getOutputDirectory());
    File instrumented = instrumentedClasses();
    if (classes.equals(instrumented)) {
      getLog().info("the classes are instrumented already");
      return;
    }
    if (!classes.isDirectory()) {
      getLog().info("there are no classes: " + classes + " does not exist");
      return;
    }
    Tool tool = tool();
    Path input = new File(outputDirectory, "classes-input").toPath();
    ClassTree tree = new ClassTree();
    try {
      tree.addJar(runtime(tool).toPath());
      tree.addDirectory(classes.toPath());
      tree.writeTo(input);
    } catch (IOException e) {
      throw new MojoExecutionException(
          "cannot copy the classes and the runtime to " + input + ": " + e.getMessage(), e);
    }
    List<File> classPath = new ArrayList<>();
    for (Artifact a : project.getArtifacts()) {
      if (a.getArtifactHandler().isAddedToClasspath() && !Artifact.SCOPE_TEST.equals(a.getScope()) && !isRuntime(a)) {
        classPath.add(a.getFile());
      }
    }
    instrument(tool, Collections.singletonList(input.toFile()), instrumented, tree.names(), classPath);
    project.getBuild().setOutputDirectory(instrumented.getPath());
    // Other modules of the build find the classes here if they are not packaged.
    if (classes.equals(project.getArtifact().getFile())) {
      project.getArtifact().setFile(instrumented);
    }
  }
}
