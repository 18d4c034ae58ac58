package dev.tracegen.bench;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/**
 * What Android's Gradle plugin does with the class visitor of a user's {@code AsmClassVisitorFactory} whose frames are
 * copied ({@code FramesComputationMode.COPY_FRAMES}), without Gradle itself. The steps are those that
 * {@code AsmInstrumentationManager} of version 8.0.2 makes: a {@link ZipFile} is read entry by entry; each class passes
 * a reader that expands frames, the visitor, and a writer that shares the reader's constant pool and computes neither
 * frames nor the size of the stack; a {@link ZipOutputStream} of deflate level 0 and one time for all entries takes the
 * results. A jar is the work of one thread, as in the plugin's transform of dependencies, with as many threads as
 * cores. The visitor is that of {@link AsmExpert}.
 *
 * <p>Arguments: a file that lists the jars, the directory for the outputs, the mapping to write.
 */
public final class AgpDriver {
    private final Tracer tracer = new Tracer("dev/tracegen/runtime/AppMethodBeat", false);
    private final AtomicInteger counter = new AtomicInteger();

    private AgpDriver() {}

    public static void main(String[] args) throws Exception {
        AgpDriver driver = new AgpDriver();
        List<Callable<List<AsmExpert.Numbered>>> jars = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            Path in = Path.of(line);
            jars.add(() -> driver.instrument(in, Path.of(args[1]).resolve(in.getFileName())));
        }
        List<AsmExpert.Numbered> mapping = new ArrayList<>();
        ExecutorService workers = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        try {
            for (Future<List<AsmExpert.Numbered>> jar : workers.invokeAll(jars)) {
                mapping.addAll(jar.get());
            }
        } finally {
            workers.shutdown();
        }
        AsmExpert.writeMapping(Path.of(args[2]), mapping);
    }

    private List<AsmExpert.Numbered> instrument(Path in, Path out) throws IOException {
        List<AsmExpert.Numbered> mapping = new ArrayList<>();
        Set<String> names = new HashSet<>();
        int twice = 0;
        try (ZipOutputStream to = new ZipOutputStream(new BufferedOutputStream(Files.newOutputStream(out)));
                ZipFile from = new ZipFile(in.toFile())) {
            to.setLevel(Deflater.NO_COMPRESSION);
            for (Enumeration<? extends ZipEntry> all = from.entries(); all.hasMoreElements();) {
                ZipEntry entry = all.nextElement();
                if (!names.add(entry.getName())) {
                    twice++; // the plugin fails here
                    continue;
                }
                byte[] bytes;
                try (InputStream data = from.getInputStream(entry)) {
                    bytes = data.readAllBytes();
                }
                ZipEntry written = new ZipEntry(entry.getName());
                written.setTime(0);
                to.putNextEntry(written);
                to.write(isClass(entry.getName()) ? instrument(bytes, mapping) : bytes);
                to.closeEntry();
            }
        }
        if (twice > 0) {
            System.out.println("leaves out " + twice + " entries with the name of another");
        }
        return mapping;
    }

    private static boolean isClass(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return lower.endsWith(".class") && !lower.equals("module-info.class") && !lower.startsWith("meta-inf/");
    }

    private byte[] instrument(byte[] bytes, List<AsmExpert.Numbered> mapping) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, 0);
        List<Tracer.Method> traced = new ArrayList<>();
        reader.accept(tracer.visitor(writer, () -> {
            int id = counter.incrementAndGet();
            mapping.add(new AsmExpert.Numbered(id, traced.get(traced.size() - 1)));
            return id;
        }, traced), ClassReader.EXPAND_FRAMES);
        return writer.toByteArray();
    }
}
