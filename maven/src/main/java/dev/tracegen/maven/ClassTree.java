package dev.tracegen.maven;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Files of several class path entries, to be written into one directory. Of equal names, the last one is kept. */
final class ClassTree {
  private final Map<String, byte[]> files = new TreeMap<>();

  /** Adds the classes and resources of a jar, but not its module descriptor and its manifest. */
  void addJar(Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      for (Enumeration<JarEntry> entries = file.entries(); entries.hasMoreElements(); ) {
        JarEntry entry = entries.nextElement();
        String name = entry.getName();
        if (entry.isDirectory() || name.equals("module-info.class") || name.equals(JarFile.MANIFEST_NAME)) {
          continue;
        }
        try (InputStream in = file.getInputStream(entry)) {
          files.put(name, readAll(in));
        }
      }
    }
  }

  /** Adds all files below a directory. */
  void addDirectory(Path directory) throws IOException {
    for (Path file : filesBelow(directory)) {
      files.put(nameOf(directory, file), Files.readAllBytes(file));
    }
  }

  /** Makes a directory have these files and no others. A file that has the content already is not written. */
  void writeTo(Path directory) throws IOException {
    Files.createDirectories(directory);
    keepOnly(directory, names());
    for (Map.Entry<String, byte[]> entry : files.entrySet()) {
      Path file = directory.resolve(entry.getKey()).normalize();
      if (!file.startsWith(directory.normalize())) {
        throw new IOException("the name of an entry leaves the directory: " + entry.getKey());
      }
      if (Files.isRegularFile(file) && Arrays.equals(Files.readAllBytes(file), entry.getValue())) {
        continue;
      }
      Files.createDirectories(file.getParent());
      Files.write(file, entry.getValue());
    }
  }

  /** Returns the names of the files, relative to the directory, with slashes. */
  Set<String> names() {
    return files.keySet();
  }

  /** Deletes the files below a directory that have other names. The directory may be missing. */
  static void keepOnly(Path directory, Set<String> names) throws IOException {
    if (!Files.isDirectory(directory)) {
      return;
    }
    for (Path file : filesBelow(directory)) {
      if (!names.contains(nameOf(directory, file))) {
        Files.delete(file);
      }
    }
  }

  private static String nameOf(Path directory, Path file) {
    return directory.relativize(file).toString().replace('\\', '/');
  }

  private static List<Path> filesBelow(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(Files::isRegularFile).sorted(Comparator.naturalOrder()).collect(Collectors.toList());
    }
  }

  private static byte[] readAll(InputStream in) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] buffer = new byte[8192];
    for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
      out.write(buffer, 0, n);
    }
    return out.toByteArray();
  }
}
