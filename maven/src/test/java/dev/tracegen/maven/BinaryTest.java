package dev.tracegen.maven;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BinaryTest {
  /** A file whose permissions cannot be changed, as in a local repository of another user. */
  private static final class ReadOnly extends File {
    ReadOnly(File file) {
      super(file.getPath());
    }

    @Override
    public boolean canExecute() {
      return false;
    }

    @Override
    public boolean setExecutable(boolean executable, boolean ownerOnly) {
      return false;
    }
  }

  @Test
  void theFileItselfIsMadeExecutable(@TempDir Path dir) throws Exception {
    Path file = Files.write(dir.resolve("tool.exe"), new byte[] {1});
    assertEquals(file.toFile(), Binary.executable(file.toFile(), dir.resolve("bin").toFile()));
    assertTrue(Files.isExecutable(file));
  }

  @Test
  void aCopyIsMadeOnceIfThatIsNotAllowed(@TempDir Path dir) throws Exception {
    Path file = Files.write(dir.resolve("tool.exe"), new byte[] {1});
    File copy = Binary.executable(new ReadOnly(file.toFile()), dir.resolve("bin").toFile());
    assertTrue(copy.canExecute());
    assertArrayEquals(new byte[] {1}, Files.readAllBytes(copy.toPath()));
    assertEquals(1, copy.getParentFile().list().length);
    Object key = Files.readAttributes(copy.toPath(), "unix:ino").get("ino");
    assertEquals(copy, Binary.executable(new ReadOnly(file.toFile()), dir.resolve("bin").toFile()));
    assertEquals(key, Files.readAttributes(copy.toPath(), "unix:ino").get("ino"));
    Files.write(file, new byte[] {2});
    File other = Binary.executable(new ReadOnly(file.toFile()), dir.resolve("bin").toFile());
    assertArrayEquals(new byte[] {2}, Files.readAllBytes(other.toPath()));
    assertArrayEquals(new byte[] {1}, Files.readAllBytes(copy.toPath()));
  }
}
