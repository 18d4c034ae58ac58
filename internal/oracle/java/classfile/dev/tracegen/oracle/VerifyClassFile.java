package dev.tracegen.oracle;

import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.constant.ClassDesc;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Verifies every class of many jars with the JDK's class file library, whose verifier implements the JVMS in Java,
 * independently of HotSpot's.
 *
 * <p>{@code VerifyClassFile JOBS OUT THREADS}. A line of JOBS is: id, jar, dependency jars,
 * tab-separated. A line of OUT is: id, entry, and what was found, empty if nothing was.
 */
public final class VerifyClassFile {
    private static final int MAX_MESSAGE = 600;

    private final PrintWriter out;

    private VerifyClassFile(PrintWriter out) {
        this.out = out;
    }

    /** See the class comment. */
    public static void main(String[] args) throws Exception {
        List<String> jobs = Files.readAllLines(Paths.get(args[0]), StandardCharsets.UTF_8);
        try (PrintWriter out = new PrintWriter(new BufferedWriter(
                Files.newBufferedWriter(Paths.get(args[1]), StandardCharsets.UTF_8)))) {
            VerifyClassFile v = new VerifyClassFile(out);
            ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[2]));
            for (String job : jobs) {
                pool.execute(() -> v.run(job.split("\t")));
            }
            pool.shutdown();
            pool.awaitTermination(1, TimeUnit.DAYS);
        }
    }

    private record Source(ZipFile zip, ZipEntry entry) {
        byte[] bytes() {
            try (InputStream in = zip.getInputStream(entry)) {
                return in.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private void run(String[] job) {
        List<ZipFile> open = new ArrayList<>();
        try {
            Map<String, Source> index = new HashMap<>();
            for (int k = job.length - 1; k >= 1; k--) {
                ZipFile zip = new ZipFile(job[k]);
                open.add(zip);
                for (ZipEntry e : Collections.list(zip.entries())) {
                    index.put(e.getName(), new Source(zip, e));
                }
            }
            ClassHierarchyResolver resolver = ClassHierarchyResolver
                    .ofResourceParsing((ClassDesc c) -> resource(index, c))
                    .orElse(ClassHierarchyResolver.defaultResolver())
                    .cached();
            ClassFile library = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(resolver));
            for (ZipEntry e : Collections.list(open.get(open.size() - 1).entries())) {
                if (e.getName().endsWith(".class")) {
                    byte[] bytes = new Source(open.get(open.size() - 1), e).bytes();
                    print(job[0], e.getName(), verify(library, bytes));
                }
            }
        } catch (Throwable e) {
            print(job[0], "-", "job: " + e);
        } finally {
            for (ZipFile z : open) {
                try {
                    z.close();
                } catch (IOException e) {
                    print(job[0], "-", "job: " + e);
                }
            }
        }
    }

    private static InputStream resource(Map<String, Source> index, ClassDesc c) {
        String d = c.descriptorString();
        Source s = index.get(d.substring(1, d.length() - 1) + ".class");
        return s == null ? null : new ByteArrayInputStream(s.bytes());
    }

    private static String verify(ClassFile library, byte[] bytes) {
        try {
            List<VerifyError> errors = library.verify(bytes);
            return errors.isEmpty() ? "" : errors.size() + ": " + errors.get(0).getMessage();
        } catch (RuntimeException | StackOverflowError e) {
            return "crash: " + e;
        }
    }

    private synchronized void print(String id, String entry, String message) {
        String m = message.replaceAll("\\s+", " ");
        out.println(id + "\t" + entry + "\t" + m.substring(0, Math.min(m.length(), MAX_MESSAGE)));
    }
}
