package dev.tracegen.maven;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Component;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProjectHelper;
import org.eclipse.aether.artifact.DefaultArtifact;

/** The parameters of both goals that instrument, and the command that they run. */
abstract class AbstractInstrumentMojo extends AbstractTracegenMojo {
  /** The classifier of the mapping among the project's artifacts. */
  static final String MAPPING_CLASSIFIER = "tracegen-mapping";

  /** The file with options and rules; tracegen.yml beside the POM if it exists and no other is set. */
  @Parameter(property = "tracegen.config")
  private File config;

  /** The method mapping of an earlier build. Its methods keep their IDs. */
  @Parameter(property = "tracegen.base")
  private File base;

  /**
   * A released version of this project. Its mapping, which was deployed with the classifier tracegen-mapping, is the
   * base.
   */
  @Parameter(property = "tracegen.baseVersion")
  private String baseVersion;

  /** Which exits are reported: normal, throws, or exact. */
  @Parameter(property = "tracegen.exits")
  private String exits;

  /** Which methods are too small to be traced: bounded, smart, matrix, or none. */
  @Parameter(property = "tracegen.trivial")
  private String trivial;

  /** What is checked: full or equivalence. */
  @Parameter(property = "tracegen.verify")
  private String verify;

  /** Guards that make the build fail, as for --guard: introduced, unverifiable, growth=25, ratio, base, calls,
          digest. */
  @Parameter(property = "tracegen.failOn")
  private List<String> failOn = Collections.emptyList();

  /** More arguments of tracegen instrument. They come last. */
  @Parameter(property = "tracegen.arguments")
  private List<String> arguments = Collections.emptyList();

  /** The cache that makes repeated builds quick. It may be deleted at any time. */
  @Parameter(property = "tracegen.cache", defaultValue = "${project.build.directory}/tracegen/cache")
  private File cache;

  /** Whether the mapping, and the instrumented jar if there is one, become artifacts of the project. */
  @Parameter(property = "tracegen.attach", defaultValue = "true")
  boolean attach;

  @Component private MavenProjectHelper projectHelper;

  /**
   * Runs tracegen instrument and attaches the mapping.
   *
   * @param inputs the inputs, the most important first
   * @param output the directory of outputs
   * @param names the names of the files of earlier builds in it that stay until they are replaced
   * @param classPath where classes are looked up that the inputs refer to
   */
  final void instrument(Tool tool, List<File> inputs, File output, Set<String> names, Collection<File> classPath)
      throws MojoExecutionException, MojoFailureException {
    try {
      ClassTree.keepOnly(output.toPath(), names);
    } catch (IOException e) {
      throw new MojoExecutionException("cannot remove what is gone from " + output + ": " + e.getMessage(), e);
    }
    List<String> command = new ArrayList<>();
    command.add("instrument");
    command.add("@" + path(inputList(inputs)));
    // With several inputs, the output of each is in the directory. The output of a directory is the directory itself.
    option(command, "--output", path(output) + (inputs.size() > 1 ? File.separator : ""));
    option(command, "--mapping", mappingFile());
    option(command, "--reports", outputDirectory);
    option(command, "--cache", cache);
    option(command, "--config", config);
    option(command, "--base", baseMapping());
    option(command, "--exits", exits);
    if (trivial != null) {
      option(command, "--set", "trivial=" + trivial);
    }
    option(command, "--verify", verify);
    for (String guard : failOn) {
      option(command, "--guard", guard);
    }
    if (!classPath.isEmpty()) {
      List<String> paths = new ArrayList<>();
      classPath.forEach(f -> paths.add(path(f)));
      option(command, "--classpath", String.join(File.pathSeparator, paths));
    }
    command.addAll(arguments);
    tool.run(command, getLog()::info);
    if (attach) {
      attach("txt", MAPPING_CLASSIFIER, mappingFile());
    }
  }

  final void attach(String type, String classifier, File file) {
    boolean attached = project.getAttachedArtifacts().stream()
        .anyMatch(a -> classifier.equals(a.getClassifier()) && type.equals(a.getType()));
    if (!attached) {
      projectHelper.attachArtifact(project, type, classifier, file);
    }
  }

  /**
   * Returns the jar of the runtime: that of the project's dependencies, or else the one in the binary, which is written
   * below the output directory.
   */
  final File runtime(Tool tool) throws MojoExecutionException, MojoFailureException {
    for (Artifact a : project.getArtifacts()) {
      if (isRuntime(a)) {
        return a.getFile();
      }
    }
    File directory = new File(outputDirectory, "runtime");
    tool.run(Arrays.asList("runtime", "-o", directory.getPath()), getLog()::debug);
    return new File(directory, "tracegen-runtime.jar");
  }

  /** Returns the directory into which instrument-classes writes. */
  final File instrumentedClasses() {
    return new File(outputDirectory, "classes");
  }

  static boolean isRuntime(Artifact a) {
    return a.getGroupId().equals("dev.tracegen") && a.getArtifactId().equals("tracegen-runtime");
  }

  private File baseMapping() throws MojoExecutionException {
    if (baseVersion == null || baseVersion.isEmpty()) {
      return base;
    }
    if (base != null) {
      throw new MojoExecutionException("both base and baseVersion are set: remove one of them");
    }
    return resolve(new DefaultArtifact(project.getGroupId(), project.getArtifactId(), MAPPING_CLASSIFIER, "txt",
        baseVersion), "check baseVersion: that version of the project must have been deployed with its mapping");
  }

  private File inputList(List<File> inputs) throws MojoExecutionException {
    List<String> paths = new ArrayList<>();
    inputs.forEach(f -> paths.add(path(f)));
    File list = new File(outputDirectory, "inputs.txt");
    try {
      Files.createDirectories(outputDirectory.toPath());
      Files.write(list.toPath(), paths, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new MojoExecutionException("cannot write the list of inputs, " + list + ": " + e.getMessage(), e);
    }
    return list;
  }

  /**
   * Returns the name of a file for the binary, which runs in the directory of the project. A file below this directory
   * has a relative name, so that reports do not depend on where the project is.
   */
  private String path(File file) {
    Path directory = project.getBasedir().toPath();
    return file.toPath().startsWith(directory) ? directory.relativize(file.toPath()).toString() : file.getPath();
  }

  private void option(List<String> command, String flag, File file) {
    if (file != null) {
      option(command, flag, path(file));
    }
  }

  private static void option(List<String> command, String flag, String value) {
    if (value != null && !value.isEmpty()) {
      command.add(flag);
      command.add(value);
    }
  }
}
