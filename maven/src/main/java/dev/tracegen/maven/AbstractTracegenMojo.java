package dev.tracegen.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Component;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;

/** What all goals have in common: finding and running the binary. */
abstract class AbstractTracegenMojo extends AbstractMojo {
  /** Do nothing. */
  @Parameter(property = "tracegen.skip", defaultValue = "false")
  private boolean skip;

  /** The tracegen binary to run, in place of the one that is resolved as dev.tracegen:tracegen:exe. */
  @Parameter(property = "tracegen.executable")
  private File executable;

  /** The version of the binary; that of the plugin if it is not set. */
  @Parameter(property = "tracegen.toolVersion", defaultValue = "${plugin.version}")
  private String toolVersion;

  /** The directory of everything that is written. */
  @Parameter(property = "tracegen.outputDirectory", defaultValue = "${project.build.directory}/tracegen")
  File outputDirectory;

  @Parameter(defaultValue = "${project}", readonly = true, required = true)
  MavenProject project;

  @Parameter(defaultValue = "${repositorySystemSession}", readonly = true, required = true)
  private RepositorySystemSession session;

  @Parameter(defaultValue = "${project.remotePluginRepositories}", readonly = true, required = true)
  private List<RemoteRepository> pluginRepositories;

  @Parameter(defaultValue = "${project.remoteProjectRepositories}", readonly = true, required = true)
  private List<RemoteRepository> projectRepositories;

  @Component private RepositorySystem repositorySystem;

  @Override
  public final void execute() throws MojoExecutionException, MojoFailureException {
    if (skip) {
      getLog().info("tracegen.skip is set: nothing is done");
      return;
    }
    run();
  }

  abstract void run() throws MojoExecutionException, MojoFailureException;

  /** Returns the binary, ready to run in the directory of the project. */
  final Tool tool() throws MojoExecutionException {
    return new Tool(findExecutable(), project.getBasedir(), getLog());
  }

  final File mappingFile() {
    return new File(outputDirectory, "methodMapping.txt");
  }

  private File findExecutable() throws MojoExecutionException {
    if (executable != null) {
      if (!executable.canExecute()) {
        throw new MojoExecutionException("the parameter executable: " + executable
            + (executable.exists() ? " is not executable" : " does not exist"));
      }
      return executable;
    }
    String name = System.getProperty("os.name");
    String arch = System.getProperty("os.arch");
    String classifier = Platform.classifier(name, arch);
    if (classifier == null) {
      throw new MojoExecutionException("no tracegen binary is published for " + name + " on " + arch
          + "; build one (go build ./cmd/tracegen) and set the parameter executable (-Dtracegen.executable) to it");
    }
    File resolved = resolve(new DefaultArtifact("dev.tracegen", "tracegen", classifier, "exe", toolVersion),
        "check the version and the plugin repositories; if the build is offline, run it once without -o;"
            + " or set the parameter executable (-Dtracegen.executable) to a tracegen binary");
    return Binary.executable(resolved, new File(outputDirectory, "bin"));
  }

  /**
   * Returns the file of an artifact of the local repository, or of the repositories of plugins and of the project.
   *
   * @param wayOut the end of the error message: what to do if the artifact is not found
   */
  final File resolve(DefaultArtifact artifact, String wayOut) throws MojoExecutionException {
    List<RemoteRepository> repositories = new ArrayList<>(pluginRepositories);
    for (RemoteRepository repository : projectRepositories) {
      if (repositories.stream().noneMatch(r -> r.getId().equals(repository.getId()))) {
        repositories.add(repository);
      }
    }
    try {
      ArtifactRequest request = new ArtifactRequest(artifact, repositories, null);
      return repositorySystem.resolveArtifact(session, request).getArtifact().getFile();
    } catch (ArtifactResolutionException e) {
      throw new MojoExecutionException("cannot resolve " + artifact + ": " + e.getMessage() + "; " + wayOut, e);
    }
  }
}
