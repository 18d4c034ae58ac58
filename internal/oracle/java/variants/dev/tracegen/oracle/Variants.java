package dev.tracegen.oracle;

import java.io.BufferedInputStream;
import java.io.BufferedWriter;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import jdk.test.whitebox.WhiteBox;

/**
 * Links variants of single classes, each among the unchanged other classes of its jar.
 *
 * <p>{@code Variants JOBS OUT THREADS}. A line of JOBS is: id, file of variants, jar, dependency
 * jars, tab-separated. The file holds for each variant: its number (int), the class's name (UTF),
 * its length (int), the class file. A line of OUT is: id, number, {@code ok} or {@code fail},
 * exception class, message.
 *
 * <p>Every variant has a child-first loader of its own, which defines the other classes anew when they are needed: that
 * the variant and they are in one runtime package matters to verification.
 */
public final class Variants {
    private static final int MAX_MESSAGE = 4000;

    private final WhiteBox whiteBox = new WhiteBox();
    private final PrintWriter out;

    private Variants(PrintWriter out) {
        this.out = out;
    }

    /** See the class comment. */
    public static void main(String[] args) throws Exception {
        List<String> jobs = Files.readAllLines(Paths.get(args[0]), StandardCharsets.UTF_8);
        try (PrintWriter out = new PrintWriter(new BufferedWriter(
                Files.newBufferedWriter(Paths.get(args[1]), StandardCharsets.UTF_8)))) {
            Variants variants = new Variants(out);
            for (String job : jobs) {
                variants.run(job.split("\t"), Integer.parseInt(args[2]));
            }
        }
    }

    private void run(String[] job, int threads) throws Exception {
        Map<String, byte[]> classes = new HashMap<>();
        for (int k = job.length - 1; k >= 2; k--) {
            readJar(Paths.get(job[k]), classes);
        }
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try (DataInputStream in = new DataInputStream(
                new BufferedInputStream(Files.newInputStream(Paths.get(job[1])), 1 << 16))) {
            while (in.available() > 0) {
                int number = in.readInt();
                String name = in.readUTF();
                byte[] data = new byte[in.readInt()];
                in.readFully(data);
                pool.execute(() -> check(job[0], number, name, data, classes));
            }
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.DAYS);
    }

    private static void readJar(Path path, Map<String, byte[]> classes) throws IOException {
        try (ZipFile zip = new ZipFile(path.toFile())) {
            for (ZipEntry e : Collections.list(zip.entries())) {
                String name = e.getName();
                if (name.endsWith(".class") && !name.startsWith("META-INF/")) {
                    try (InputStream in = zip.getInputStream(e)) {
                        classes.put(name.substring(0, name.length() - 6).replace('/', '.'),
                                in.readAllBytes());
                    }
                }
            }
        }
    }

    private void check(String id, int number, String name, byte[] data, Map<String, byte[]> classes) {
        String verdict = "ok\t\t";
        try {
            whiteBox.linkClass(Class.forName(name, false, new Loader(name, data, classes)));
        } catch (Throwable e) {
            String m = String.valueOf(e.getMessage()).replace('\t', ' ').replace('\r', ' ');
            m = m.replace("\n", " | ");
            verdict = "fail\t" + e.getClass().getName() + "\t"
                    + (m.length() > MAX_MESSAGE ? m.substring(0, MAX_MESSAGE) : m);
        }
        synchronized (out) {
            out.println(id + "\t" + number + "\t" + verdict);
        }
    }

    private static final class Loader extends ClassLoader {
        private final String name;
        private final byte[] data;
        private final Map<String, byte[]> classes;

        Loader(String name, byte[] data, Map<String, byte[]> classes) {
            super(Variants.class.getClassLoader());
            this.name = name;
            this.data = data;
            this.classes = classes;
        }

        @Override
        protected Class<?> loadClass(String wanted, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(wanted)) {
                Class<?> known = findLoadedClass(wanted);
                if (known != null) {
                    return known;
                }
                byte[] b = wanted.equals(name) ? data
                        : wanted.startsWith("java.") ? null : classes.get(wanted);
                return b == null ? super.loadClass(wanted, resolve) : defineClass(wanted, b, 0, b.length);
            }
        }
    }
}
