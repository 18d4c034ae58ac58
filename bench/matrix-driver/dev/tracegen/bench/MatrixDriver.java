package dev.tracegen.bench;

import com.tencent.matrix.plugin.trace.MatrixTrace;
import com.tencent.matrix.trace.Configuration;
import com.tencent.matrix.trace.MethodCollector;
import com.tencent.matrix.trace.MethodTracer;
import com.tencent.matrix.trace.item.TraceMethod;
import com.tencent.matrix.trace.retrace.MappingCollector;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs the classes of Matrix's published Gradle plugin through the three steps of its MatrixTrace.doTransform: parse,
 * collect, trace, on its 16 threads and with its default lists. It leaves out what the plugin takes from an Android
 * project: the platform's jar for the class loader.
 *
 * <p>Arguments: a file that lists the jars, the directory for the outputs, the method map to write, then
 * {@code check=true|false}. The exit code is 1 if Matrix would fail the build; the outputs are there all the same.
 */
public final class MatrixDriver {
    private MatrixDriver() {}

    public static void main(String[] args) throws Exception {
        Map<File, File> jars = new HashMap<>();
        List<URL> urls = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            File jar = new File(line);
            jars.put(jar, new File(args[1], jar.getName()));
            urls.add(jar.toURI().toURL());
        }
        boolean skipCheck = args[3].equals("check=false");
        Configuration config = new Configuration.Builder()
                .setIgnoreMethodMapFilePath(args[2] + ".ignored")
                .setMethodMapFilePath(args[2])
                .setBaseMethodMap("")
                .setBlockListFile("")
                .setMappingPath("")
                .setSkipCheckClass(skipCheck)
                .build();
        ExecutorService executor = Executors.newFixedThreadPool(16);
        try (URLClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]))) {
            MappingCollector names = new MappingCollector();
            AtomicInteger id = new AtomicInteger(0);
            ConcurrentHashMap<String, TraceMethod> methods = new ConcurrentHashMap<>();
            executor.submit(new MatrixTrace.ParseMappingTask(names, methods, id, config)).get();
            MethodCollector collector = new MethodCollector(executor, names, id, config, methods);
            collector.collect(Collections.emptySet(), jars.keySet());
            MethodTracer tracer = new MethodTracer(executor, names, config, collector.getCollectedMethodMap(),
                    collector.getCollectedClassExtendMap());
            tracer.trace(Collections.emptyMap(), jars, loader, skipCheck);
        } catch (IllegalArgumentException e) {
            System.out.println("fails the build: " + e.getMessage());
            System.exit(1);
        } finally {
            executor.shutdown();
        }
    }
}
