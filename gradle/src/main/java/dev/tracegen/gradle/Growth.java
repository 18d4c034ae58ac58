package dev.tracegen.gradle;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

import org.gradle.api.GradleException;
import org.gradle.api.provider.Provider;

/** The guard {@code growth} where several runs of tracegen instrument the classes, none of which knows all sizes. */
final class Growth {
    /** The default limit of tracegen, in percent. */
    private static final double STANDARD = 25;

    private static final String NAME = "growth";

    private Growth() {}

    /** Returns the limit that is set, in percent; no value if the guard is off. */
    static Provider<Double> limit(TracegenOptions options) {
        return options.getMaxGrowth().orElse(options.getFailOn().map(guards -> {
            for (String guard : guards) {
                String[] parts = guard.split("=", 2);
                if (parts[0].equals(NAME)) {
                    return parts.length == 1 ? STANDARD : number(parts[1]);
                }
            }
            return Double.POSITIVE_INFINITY;
        })).orElse(Double.POSITIVE_INFINITY);
    }

    private static double number(String limit) {
        try {
            return Double.parseDouble(limit);
        } catch (NumberFormatException e) {
            throw new GradleException("tracegen { failOn } has growth=" + limit + ". The limit must be a number.", e);
        }
    }

    /** Fails if the class files of the outputs are bigger than those of the inputs by more than the limit. */
    static void check(double limit, Collection<File> inputs, Collection<File> outputs) {
        if (limit == Double.POSITIVE_INFINITY) {
            return;
        }
        long before = bytes(inputs);
        long after = bytes(outputs);
        double growth = before == 0 ? 0 : 100.0 * (after - before) / before;
        if (growth > limit) {
            throw new GradleException(String.format(Locale.ROOT, "tracegen: growth: the classes grow from %d to %d"
                    + " bytes, by %.2f %%; expected: at most %s %%. All outputs were written.", before, after, growth,
                    limit));
        }
    }

    /** Returns the bytes of all class files in jars and directories, before compression. */
    private static long bytes(Collection<File> files) {
        long sum = 0;
        for (File file : files) {
            try {
                sum += file.isDirectory() ? inDirectory(file.toPath()) : inJar(file);
            } catch (IOException e) {
                throw new GradleException("Cannot read " + file + ": " + e.getMessage(), e);
            }
        }
        return sum;
    }

    private static long inDirectory(Path directory) throws IOException {
        List<Path> classes;
        try (Stream<Path> all = Files.walk(directory)) {
            classes = all.filter(p -> isClass(p.toString())).collect(Collectors.toList());
        }
        long sum = 0;
        for (Path file : classes) {
            sum += Files.size(file);
        }
        return sum;
    }

    private static long inJar(File jar) throws IOException {
        long sum = 0;
        try (ZipFile zip = new ZipFile(jar)) {
            for (ZipEntry entry : Collections.list(zip.entries())) {
                sum += isClass(entry.getName()) ? entry.getSize() : 0;
            }
        }
        return sum;
    }

    private static boolean isClass(String name) {
        return name.endsWith(".class");
    }
}
