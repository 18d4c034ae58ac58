package dev.tracegen.oracle;

import java.io.BufferedInputStream;
import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
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
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.util.CheckClassAdapter;

/**
 * Runs two other verifiers on variants of classes: the JDK's java.lang.classfile and ASM's CheckClassAdapter, with the
 * hierarchy of the same jars. Jobs are those of {@link Variants}; a line of OUT is: id, number, {@code ok} or {@code
 * fail} of the JDK's, the same of ASM's.
 */
public final class Opinions {
    private final PrintWriter out;

    private Opinions(PrintWriter out) {
        this.out = out;
    }

    /** See the class comment. */
    public static void main(String[] args) throws Exception {
        List<String> jobs = Files.readAllLines(Paths.get(args[0]), StandardCharsets.UTF_8);
        try (PrintWriter out = new PrintWriter(new BufferedWriter(
                Files.newBufferedWriter(Paths.get(args[1]), StandardCharsets.UTF_8)))) {
            for (String job : jobs) {
                new Opinions(out).run(job.split("\t"), Integer.parseInt(args[2]));
            }
        }
    }

    private void run(String[] job, int threads) throws Exception {
        Map<String, byte[]> classes = new HashMap<>();
        for (int k = job.length - 1; k >= 2; k--) {
            readJar(Paths.get(job[k]), classes);
        }
        ClassFile jdk = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(
                ClassHierarchyResolver.ofResourceParsing(d -> {
                    String s = d.descriptorString();
                    byte[] b = classes.get(s.substring(1, s.length() - 1).replace('/', '.'));
                    return b == null ? null : new ByteArrayInputStream(b);
                }).orElse(ClassHierarchyResolver.ofResourceParsing(ClassLoader.getSystemClassLoader()))
                        .cached(java.util.concurrent.ConcurrentHashMap::new)));
        Loader loader = new Loader(classes);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try (DataInputStream in = new DataInputStream(
                new BufferedInputStream(Files.newInputStream(Paths.get(job[1])), 1 << 16))) {
            while (in.available() > 0) {
                int number = in.readInt();
                in.readUTF();
                byte[] data = new byte[in.readInt()];
                in.readFully(data);
                pool.execute(() -> check(job[0], number, data, jdk, loader));
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

    private void check(String id, int number, byte[] data, ClassFile jdk, ClassLoader loader) {
        String a = jdkAccepts(jdk, data) ? "ok" : "fail";
        String b = asmAccepts(data, loader) ? "ok" : "fail";
        synchronized (out) {
            out.println(id + "\t" + number + "\t" + a + "\t" + b);
        }
    }

    private static boolean jdkAccepts(ClassFile jdk, byte[] data) {
        try {
            return jdk.verify(data).isEmpty();
        } catch (Throwable e) {
            return false;
        }
    }

    private static boolean asmAccepts(byte[] data, ClassLoader loader) {
        StringWriter errors = new StringWriter();
        try {
            CheckClassAdapter.verify(new ClassReader(data), loader, false, new PrintWriter(errors));
            return errors.toString().isEmpty();
        } catch (Throwable e) {
            return false;
        }
    }

    /** Finds for ASM the classes whose supertypes it asks for; they are not linked. */
    private static final class Loader extends ClassLoader {
        private final Map<String, byte[]> classes;

        Loader(Map<String, byte[]> classes) {
            super(Opinions.class.getClassLoader());
            this.classes = classes;
        }

        @Override
        protected Class<?> loadClass(String wanted, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(wanted)) {
                Class<?> known = findLoadedClass(wanted);
                if (known != null) {
                    return known;
                }
                byte[] b = wanted.startsWith("java.") ? null : classes.get(wanted);
                return b == null ? super.loadClass(wanted, resolve) : defineClass(wanted, b, 0, b.length);
            }
        }
    }
}
