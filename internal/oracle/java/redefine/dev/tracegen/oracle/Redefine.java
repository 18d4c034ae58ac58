package dev.tracegen.oracle;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Verifies classes of the JDK's own modules, which no class loader may define.
 *
 * <p>{@code Redefine JOBS OUT}, as an agent too, in a JVM with {@code
 * -XX:+BytecodeVerificationLocal}. JOBS and OUT are those of {@code Link}; there is no {@code ok50}.
 *
 * <p>The JVM is asked to replace its class by the one of the jar, together with another class that it must refuse. It
 * verifies them in order and replaces all or none. So each is verified in its own module by its own loader, but none
 * ever runs, because the JVM would not survive if the classes that it starts with were instrumented. HotSpot verifies
 * neither Object, Class, String nor Throwable, and reports no details of its findings.
 */
public final class Redefine {
    private static final int BATCH = 256;

    private static Instrumentation instrumentation;

    private final String job;
    private final PrintWriter out;
    private final ClassDefinition refused;

    private Redefine(String job, PrintWriter out) throws IOException {
        this.job = job;
        this.out = out;
        refused = new ClassDefinition(Redefine.class, bytesOf(Other.class));
    }

    private static final class Other {
    }

    /** The entry point of an agent, which receives the instrumentation that only agents have. */
    public static void premain(String args, Instrumentation i) {
        instrumentation = i;
    }

    /** See the class comment. */
    public static void main(String[] args) throws IOException {
        try (PrintWriter out = new PrintWriter(new BufferedWriter(
                Files.newBufferedWriter(Paths.get(args[1]), StandardCharsets.UTF_8)))) {
            for (String line : Files.readAllLines(Paths.get(args[0]), StandardCharsets.UTF_8)) {
                String[] columns = line.split("\t");
                new Redefine(columns[0], out).run(columns[1]);
            }
        }
    }

    private static byte[] bytesOf(Class<?> type) throws IOException {
        String file = type.getName().replace('.', '/') + ".class";
        try (InputStream in = type.getClassLoader().getResourceAsStream(file)) {
            return in.readAllBytes();
        }
    }

    /** A class file of the jar and the JVM's class that it is to replace. */
    private static final class Item {
        final String entry;
        final int major;
        final ClassDefinition definition;

        Item(String entry, Class<?> type, byte[] bytes) {
            this.entry = entry;
            major = bytes[7] & 0xFF;
            definition = new ClassDefinition(type, bytes);
        }
    }

    private void run(String jar) throws IOException {
        List<Item> batch = new ArrayList<>();
        try (ZipFile zip = new ZipFile(jar)) {
            for (ZipEntry e : Collections.list(zip.entries())) {
                String path = e.getName();
                if (!path.endsWith(".class") || path.endsWith("module-info.class")) {
                    continue;
                }
                String name = path.substring(0, path.length() - 6).replace('/', '.');
                try (InputStream in = zip.getInputStream(e)) {
                    Class<?> type =
                            Class.forName(name, false, ClassLoader.getSystemClassLoader());
                    batch.add(new Item(path, type, in.readAllBytes()));
                } catch (Throwable ex) {
                    print(path, name, 0, ex);
                }
                if (batch.size() == BATCH) {
                    verify(batch);
                    batch.clear();
                }
            }
        }
        if (!batch.isEmpty()) {
            verify(batch);
        }
    }

    /** Halves the batch until each class that fails is alone. */
    private void verify(List<Item> items) {
        List<ClassDefinition> definitions = new ArrayList<>();
        for (Item i : items) {
            definitions.add(i.definition);
        }
        definitions.add(refused);
        Throwable error = null;
        try {
            instrumentation.redefineClasses(definitions.toArray(new ClassDefinition[0]));
            throw new IllegalStateException("the JVM replaced a class by one of another name");
        } catch (NoClassDefFoundError e) {
            // The error is about the last class, so that all before it passed.
        } catch (Throwable e) {
            error = e;
        }
        if (error != null && items.size() > 1) {
            int half = items.size() / 2;
            verify(items.subList(0, half));
            verify(items.subList(half, items.size()));
            return;
        }
        for (Item i : items) {
            print(i.entry, i.definition.getDefinitionClass().getName(), i.major, error);
        }
    }

    private void print(String entry, String name, int major, Throwable error) {
        String message = error == null ? "" : error.toString().replaceAll("\\s+", " ");
        String status = error == null ? "ok" : "fail";
        out.println(String.join("\t", job, entry, name, Integer.toString(major), status, message));
    }
}
