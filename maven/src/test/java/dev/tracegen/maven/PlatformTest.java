package dev.tracegen.maven;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class PlatformTest {
  @Test
  void publishedPlatforms() {
    assertEquals("linux-x86_64", Platform.classifier("Linux", "amd64"));
    assertEquals("linux-aarch_64", Platform.classifier("Linux", "aarch64"));
    assertEquals("osx-x86_64", Platform.classifier("Mac OS X", "x86_64"));
    assertEquals("osx-aarch_64", Platform.classifier("Mac OS X", "aarch64"));
    assertEquals("windows-x86_64", Platform.classifier("Windows 11", "amd64"));
    assertEquals("windows-aarch_64", Platform.classifier("Windows 11", "aarch64"));
  }

  @Test
  void otherPlatformsHaveNoBinary() {
    assertNull(Platform.classifier("FreeBSD", "amd64"));
    assertNull(Platform.classifier("Linux", "ppc64le"));
  }
}
