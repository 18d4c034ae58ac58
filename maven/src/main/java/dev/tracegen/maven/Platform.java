package dev.tracegen.maven;

import java.util.Locale;

/** The platform of this JVM, as the classifier of the published binaries. */
final class Platform {
  private Platform() {}

  /**
   * Returns the classifier that os-maven-plugin writes, for instance linux-x86_64, or null if no binary is published
   * for the platform.
   *
   * @param osName the system property os.name
   * @param osArch the system property os.arch
   */
  static String classifier(String osName, String osArch) {
    String os = os(osName.toLowerCase(Locale.ROOT));
    String arch = arch(osArch.toLowerCase(Locale.ROOT));
    return os == null || arch == null ? null : os + "-" + arch;
  }

  private static String os(String name) {
    if (name.startsWith("linux")) {
      return "linux";
    }
    if (name.startsWith("mac os x") || name.startsWith("macos") || name.startsWith("osx")) {
      return "osx";
    }
    return name.startsWith("windows") ? "windows" : null;
  }

  private static String arch(String name) {
    switch (name) {
      case "x86_64":
      case "amd64":
      case "x86-64":
        return "x86_64";
      case "aarch64":
      case "arm64":
        return "aarch_64";
      default:
        return null;
    }
  }
}
