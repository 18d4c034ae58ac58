package dev.tracegen.maven;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.apache.maven.plugin.MojoExecutionException;

/** The executable that Maven's resolver has found in the local repository. */
final class Binary {
  private Binary() {}

  /**
   * Returns the resolved file with its executable bit set. If the local repository cannot be changed, it returns a copy
   * below the given directory. The name of the copy contains the hash of the content, so that a copy is never replaced
   * while another build runs it.
   *
   * @param resolved a file of the local repository
   * @param directory the directory of copies, below the directory of the build
   */
  static File executable(File resolved, File directory) throws MojoExecutionException {
    if (resolved.canExecute() || resolved.setExecutable(true, false) && resolved.canExecute()) {
      return resolved;
    }
    try {
      Path copy = directory.toPath().resolve(hash(resolved.toPath())).resolve(resolved.getName());
      if (!Files.isExecutable(copy)) {
        Files.createDirectories(copy.getParent());
        Path partial = Files.createTempFile(copy.getParent(), "copy", ".exe");
        Files.copy(resolved.toPath(), partial, StandardCopyOption.REPLACE_EXISTING);
        if (!partial.toFile().setExecutable(true, false)) {
          throw new IOException("cannot set the executable bit of " + partial);
        }
        Files.move(partial, copy, StandardCopyOption.ATOMIC_MOVE);
      }
      return copy.toFile();
    } catch (IOException e) {
      throw new MojoExecutionException(resolved + " is not executable, and a copy cannot be made: " + e.getMessage()
          + "; set the parameter executable (-Dtracegen.executable) to a tracegen binary", e);
    }
  }

  private static String hash(Path file) throws IOException {
    MessageDigest digest;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every JRE has it
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] buffer = new byte[1 << 16];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        digest.update(buffer, 0, n);
      }
    }
    StringBuilder text = new StringBuilder();
    byte[] sum = digest.digest();
    for (int i = 0; i < 8; i++) {
      text.append(String.format("%02x", sum[i]));
    }
    return text.toString();
  }
}
