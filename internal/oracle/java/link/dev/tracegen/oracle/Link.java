package dev.tracegen.oracle;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import jdk.test.whitebox.WhiteBox;

/**
 * Sends every class of many jars through this JVM's verifier.
 *
 * <p>{@code Link JOBS OUT THREADS}. A line of JOBS is: id, jar, dependency jars, tab-separated. A
 * line of OUT is: id, entry, class, major version, status, message. The status is {@code ok}, {@code
 * ok50}, {@code fail}, {@code newer} for a class that this JVM is too old to read, or {@code boot}
 * for one of {@code java.*}, which no loader of ours may define: see {@code Redefine}.
 *
 * <p>Each job has a child-first loader of its own, so that the jar's classes win over those of the JDK (except {@code
 * java.*}) and no class is trusted. Classes below META-INF/versions are linked in one more loader for each release, as
 * the JVM would load them.
 *
 * <p>If the frames of a class of major version 50 are wrong, HotSpot tries the old verifier. So such classes are linked
 * as version 51, for which HotSpot does not do that, and only those that fail are tried again unchanged: {@code ok50}.
 */
public final class Link {
    private static final int MAX_MESSAGE = 600;
    private static final String VERSIONS = "META-INF/versions/";

    private final WhiteBox whiteBox = new WhiteBox();
    private final int maxMajor;
    private final PrintWriter out;

    private Link(PrintWriter out) {
        this.out = out;
        String version = System.getProperty("java.class.version");
        maxMajor = Integer.parseInt(version.substring(0, version.indexOf('.')));
    }

    /** See the class comment. */
    public static void main(String[] args) throws Exception {
        List<String> jobs = Files.readAllLines(Paths.get(args[0]), StandardCharsets.UTF_8);
        try (PrintWriter out = new PrintWriter(new BufferedWriter(
                Files.newBufferedWriter(Paths.get(args[1]), StandardCharsets.UTF_8)))) {
            Link link = new Link(out);
            ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[2]));
            for (String job : jobs) {
                pool.execute(() -> link.run(job.split("\t")));
            }
            pool.shutdown();
            pool.awaitTermination(1, TimeUnit.DAYS);
        }
    }

    /** The place of a class's bytes. */
    private static final class Source {
        final ZipFile zip;
        final ZipEntry entry;
        final String name;
        final int major;

        Source(ZipFile zip, ZipEntry entry, String name, int major) {
            this.zip = zip;
            this.entry = entry;
            this.name = name;
            this.major = major;
        }

        byte[] bytes() throws IOException {
            try (InputStream in = zip.getInputStream(entry)) {
                return in.readAllBytes();
            }
        }
    }

    private void run(String[] job) {
        List<ZipFile> open = new ArrayList<>();
        try {
            ZipFile jar = new ZipFile(job[1]);
            open.add(jar);
            TreeMap<Integer, Map<String, Source>> groups = group(job[0], jar);
            Map<String, Source> index = new HashMap<>();
            for (int k = job.length - 1; k >= 2; k--) {
                ZipFile dep = new ZipFile(job[k]);
                open.add(dep);
                index.putAll(dependency(dep));
            }
            for (Map<String, Source> group : groups.values()) {
                index.putAll(group);
                linkGroup(job[0], group, new HashMap<>(index));
            }
        } catch (Throwable e) {
            print(job[0], "-", "-", 0, "fail", "job: " + e);
        } finally {
            for (ZipFile z : open) {
                try {
                    z.close();
                } catch (IOException e) {
                    print(job[0], "-", "-", 0, "fail", "job: " + e);
                }
            }
        }
    }

    /** The classes of a jar by release, 0 being those outside of META-INF/versions. */
    private TreeMap<Integer, Map<String, Source>> group(String id, ZipFile jar) {
        TreeMap<Integer, Map<String, Source>> groups = new TreeMap<>();
        for (ZipEntry e : Collections.list(jar.entries())) {
            String path = e.getName();
            if (!path.endsWith(".class") || path.endsWith("module-info.class")) {
                continue;
            }
            int release = 0;
            if (path.startsWith(VERSIONS)) {
                release = Integer.parseInt(
                        path.substring(VERSIONS.length(), path.indexOf('/', VERSIONS.length())));
            }
            try {
                byte[] b = new Source(jar, e, null, 0).bytes();
                int major = (b[6] & 0xFF) << 8 | b[7] & 0xFF;
                String name = ThisClass.of(b);
                if (release > Runtime.version().feature() || major > maxMajor) {
                    print(id, path, name, major, "newer", "");
                    continue;
                }
                groups.computeIfAbsent(release, k -> new LinkedHashMap<>())
                        .putIfAbsent(name, new Source(jar, e, name, major));
            } catch (IOException | RuntimeException ex) {
                print(id, path, "-", 0, "fail", ex.toString());
            }
        }
        return groups;
    }

    /** Classes of a dependency, found by path alone. */
    private static Map<String, Source> dependency(ZipFile zip) {
        Map<String, Source> index = new HashMap<>();
        TreeMap<Integer, Map<String, Source>> releases = new TreeMap<>();
        for (ZipEntry e : Collections.list(zip.entries())) {
            String path = e.getName();
            if (!path.endsWith(".class")) {
                continue;
            }
            int release = 0;
            if (path.startsWith(VERSIONS)) {
                int slash = path.indexOf('/', VERSIONS.length());
                release = Integer.parseInt(path.substring(VERSIONS.length(), slash));
                path = path.substring(slash + 1);
            }
            if (release <= Runtime.version().feature()) {
                String name = path.substring(0, path.length() - 6).replace('/', '.');
                releases.computeIfAbsent(release, k -> new HashMap<>())
                        .put(name, new Source(zip, e, name, 0));
            }
        }
        releases.values().forEach(index::putAll);
        return index;
    }

    private void linkGroup(String id, Map<String, Source> group, Map<String, Source> index) {
        Loader strict = new Loader(index, true);
        Loader lenient = new Loader(index, false);
        for (Source s : group.values()) {
            if (s.name.startsWith("java.")) {
                print(id, s.entry.getName(), s.name, s.major, "boot", "");
                continue;
            }
            String status = "ok";
            String error = link(s.name, strict);
            if (error != null && s.major == 50 && link(s.name, lenient) == null) {
                status = "ok50";
            } else if (error != null) {
                status = "fail";
            }
            print(id, s.entry.getName(), s.name, s.major, status, error);
        }
    }

    private String link(String name, ClassLoader loader) {
        try {
            whiteBox.linkClass(Class.forName(name, false, loader));
            return null;
        } catch (Throwable e) {
            return e.toString();
        }
    }

    private synchronized void print(
            String id, String entry, String name, int major, String status, String message) {
        String m = message == null ? "" : message.replace("\n", " | ").replace('\t', ' ');
        if (m.length() > MAX_MESSAGE) {
            m = m.substring(0, MAX_MESSAGE);
        }
        out.println(String.join("\t", Arrays.asList(
                id, entry, name, Integer.toString(major), status, m.replace('\r', ' '))));
    }

    /** A child-first loader for one job, so that jars with the same classes do not affect each other. */
    private static final class Loader extends ClassLoader {
        private final Map<String, Source> index;
        private final boolean raise;

        Loader(Map<String, Source> index, boolean raise) {
            super(Link.class.getClassLoader());
            this.index = index;
            this.raise = raise;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                Source s = name.startsWith("java.") ? null : index.get(name);
                if (s == null) {
                    return super.loadClass(name, resolve);
                }
                try {
                    byte[] b = s.bytes();
                    if (raise && b[6] == 0 && b[7] == 50) {
                        b[7] = 51;
                    }
                    return defineClass(name, b, 0, b.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }
    }
}
