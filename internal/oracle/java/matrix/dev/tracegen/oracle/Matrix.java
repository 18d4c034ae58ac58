package dev.tracegen.oracle;

import com.tencent.matrix.plugin.trace.MatrixTrace;
import com.tencent.matrix.trace.Configuration;
import com.tencent.matrix.trace.MethodCollector;
import com.tencent.matrix.trace.item.TraceMethod;
import com.tencent.matrix.trace.retrace.MappingCollector;
import java.io.File;
import java.io.PrintStream;
import java.util.Collections;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs the reader and the writer of method mappings in Matrix's own Gradle plugin, as its MatrixTrace does.
 *
 * <p>Arguments: the base map, the file to list what is known afterwards, and perhaps a jar and the file for the
 * method map: then Matrix collects the jar's methods on that base and writes the map.
 */
public final class Matrix {
  private Matrix() {}

  public static void main(String[] args) throws Exception {
    Configuration config = new Configuration();
    config.packageName = "";
    config.mappingDir = "";
    config.baseMethodMapPath = args[0];
    config.blockListFilePath = "";
    config.skipCheckClass = true;
    if (args.length > 2) {
      config.methodMapFilePath = args[3];
      config.ignoreMethodMapFilePath = args[3] + ".ignored";
    }
    MappingCollector names = new MappingCollector();
    AtomicInteger id = new AtomicInteger();
    ConcurrentHashMap<String, TraceMethod> methods = new ConcurrentHashMap<>();
    new MatrixTrace.ParseMappingTask(names, methods, id, config).run();
    if (args.length > 2) {
      ExecutorService executor = Executors.newFixedThreadPool(2);
      new MethodCollector(executor, names, id, config, methods)
          .collect(Collections.<File>emptySet(), Collections.singleton(new File(args[2])));
      executor.shutdown();
    }
    try (PrintStream out = new PrintStream(args[1], "UTF-8")) {
      for (TraceMethod m : methods.values()) {
        out.print(m.id + "\t" + m.accessFlag + "\t" + m.className + "\t" + m.methodName + "\t" + m.desc + "\n");
      }
      if (out.checkError()) {
        throw new IllegalStateException("cannot write " + args[1]);
      }
    }
  }
}
