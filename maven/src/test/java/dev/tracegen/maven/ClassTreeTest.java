package dev.tracegen.maven;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClassTreeTest {
  @Test
  void theDirectoryHasTheFilesOfBothAndNoOthers(@TempDir Path dir) throws Exception {
    Path jar = dir.resolve("a.jar");
    try (OutputStream out = Files.newOutputStream(jar); JarOutputStream entries = new JarOutputStream(out)) {
      for (String name : new String[] {"META-INF/MANIFEST.MF", "module-info.class", "p/A.class", "p/Both.class"}) {
        entries.putNextEntry(new JarEntry(name));
        entries.write(1);
      }
    }
    Path classes = Files.createDirectories(dir.resolve("classes"));
    Files.write(classes.resolve("module-info.class"), new byte[] {2});
    Files.write(Files.createDirectories(classes.resolve("p")).resolve("Both.class"), new byte[] {2});
    Path out = Files.createDirectories(dir.resolve("out"));
    Files.write(out.resolve("stale"), new byte[] {3});

    ClassTree tree = new ClassTree();
    tree.addJar(jar);
    tree.addDirectory(classes);
    tree.writeTo(out);
    assertFalse(Files.exists(out.resolve("stale")));
    assertFalse(Files.exists(out.resolve("META-INF/MANIFEST.MF")));
    assertArrayEquals(new byte[] {1}, Files.readAllBytes(out.resolve("p/A.class")));
    assertArrayEquals(new byte[] {2}, Files.readAllBytes(out.resolve("p/Both.class")));
    assertArrayEquals(new byte[] {2}, Files.readAllBytes(out.resolve("module-info.class")));

    FileTime old = FileTime.fromMillis(1000);
    Files.setLastModifiedTime(out.resolve("p/A.class"), old);
    tree.writeTo(out);
    assertEquals(old, Files.getLastModifiedTime(out.resolve("p/A.class")));
  }
}
