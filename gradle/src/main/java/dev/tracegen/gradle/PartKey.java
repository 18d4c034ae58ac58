package dev.tracegen.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

import org.gradle.api.GradleException;

/**
 * The key of a part: a hash of the names, sizes and CRC-32 of the classes and nested archives of a jar or directory. It
 * does not depend on the order and times of entries, or on resources. It connects a jar with its scan file. If two
 * contents had the same key, {@code tracegen instrument --slice} would report that the classes are not those that were
 * scanned.
 */
final class PartKey {
    private PartKey() {}

    /** Returns the key of a jar or directory: 16 digits of a SHA-256. */
    static String of(File part) {
        return of(part, PartKey::matters).substring(0, 16);
    }

    /**
     * Returns a hash of all entries, whatever their order and times: those of Gradle's own jars change with every
     * build.
     */
    static String ofAll(File part) {
        return of(part, name -> true);
    }

    private static String of(File part, Predicate<String> matters) {
        List<String> lines;
        try {
            lines = part.isDirectory() ? ofDirectory(part.toPath(), matters) : ofJar(part, matters);
        } catch (IOException e) {
            throw new GradleException("Cannot read " + part + ": " + e.getMessage(), e);
        }
        Collections.sort(lines);
        return hash(String.join("\n", lines).getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the name of a part's files without the extension: the file name and the key. */
    static String stem(File part) {
        String name = part.getName();
        int dot = name.lastIndexOf('.');
        return (dot > 0 && part.isFile() ? name.substring(0, dot) : name) + "-" + of(part);
    }

    /** Returns the key in the name of a scan file or slice. */
    static String ofName(File file) {
        String name = file.getName();
        int dot = name.lastIndexOf('.');
        int dash = name.lastIndexOf('-', dot);
        return dash < 0 || dot < 0 ? "" : name.substring(dash + 1, dot);
    }

    /** Returns the SHA-256 of bytes in hexadecimal digits. */
    static String hash(byte[] data) {
        byte[] sum;
        try {
            sum = MessageDigest.getInstance("SHA-256").digest(data);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
        StringBuilder text = new StringBuilder();
        for (byte b : sum) {
            text.append(String.format("%02x", b & 0xFF));
        }
        return text.toString();
    }

    /** Returns the SHA-256 of a file's content. */
    static String hash(File file) {
        try {
            return hash(Files.readAllBytes(file.toPath()));
        } catch (IOException e) {
            throw new GradleException("Cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    private static boolean matters(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return lower.endsWith(".class") || lower.endsWith(".jar") || lower.endsWith(".zip") || lower.endsWith(".aar");
    }

    private static List<String> ofJar(File jar, Predicate<String> matters) throws IOException {
        List<String> lines = new ArrayList<>();
        try (ZipFile zip = new ZipFile(jar)) {
            for (Enumeration<? extends ZipEntry> entries = zip.entries(); entries.hasMoreElements();) {
                ZipEntry entry = entries.nextElement();
                if (matters.test(entry.getName())) {
                    lines.add(entry.getName() + " " + entry.getSize() + " " + entry.getCrc());
                }
            }
        }
        return lines;
    }

    private static List<String> ofDirectory(Path directory, Predicate<String> matters) throws IOException {
        List<String> lines = new ArrayList<>();
        List<Path> files;
        try (Stream<Path> all = Files.walk(directory)) {
            files = all.filter(Files::isRegularFile).collect(Collectors.toList());
        }
        for (Path file : files) {
            String name = directory.relativize(file).toString().replace(File.separatorChar, '/');
            if (matters.test(name)) {
                byte[] data = Files.readAllBytes(file);
                CRC32 crc = new CRC32();
                crc.update(data);
                lines.add(name + " " + data.length + " " + crc.getValue());
            }
        }
        return lines;
    }
}
