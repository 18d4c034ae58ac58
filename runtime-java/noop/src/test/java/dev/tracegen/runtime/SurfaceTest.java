package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** An app that is compiled against the runtime must link with the no-op, and the reverse. */
class SurfaceTest {
    @Test
    void theRuntimeAndTheNoOpHaveOneSurface() throws Exception {
        SortedSet<String> real = surface("../core/target/classes", "../android/target/classes",
                "../report/target/classes", "../matrix/target/classes");
        for (String entry : new String[] {"dev.tracegen.runtime.AppMethodBeat.i(int)",
            "dev.tracegen.runtime.android.TracegenRuntime.start(android.content.Context)",
            "dev.tracegen.runtime.Recorder.current() ? ",
            "com.tencent.matrix.trace.core.AppMethodBeat.at(android.app.Activity,boolean)"}) {
            assertTrue(real.toString().contains(entry), entry);
        }
        assertTrue(real.size() > 150, real.size() + " names only");
        assertEquals(String.join("\n", real), String.join("\n", surface("target/classes")));
    }

    /** The Android part and the reports have no module. The other parts and the no-op export the same packages. */
    @Test
    void theNoOpExportsThePackagesOfTheRuntime() throws Exception {
        SortedSet<String> parts = exported("../jvm", "../matrix");
        parts.add("dev.tracegen.runtime.android");
        parts.add("dev.tracegen.runtime.report");
        assertEquals(parts, exported("."));
    }

    /** Returns the packages that modules export: the public API. */
    private static SortedSet<String> exported(String... modules) throws Exception {
        SortedSet<String> packages = new TreeSet<String>();
        for (String module : modules) {
            for (String line : Files.readAllLines(new File(module, "src/main/java/module-info.java").toPath())) {
                String text = line.trim();
                if (text.startsWith("exports ")) {
                    packages.add(text.substring(8, text.indexOf(';')));
                }
            }
        }
        return packages;
    }

    /** Returns all public and protected names of the exported packages, in directories of classes. */
    private static SortedSet<String> surface(String... directories) throws Exception {
        List<URL> path = new ArrayList<URL>();
        for (String directory : directories) {
            path.add(new File(directory).toURI().toURL());
        }
        path.add(android.os.Looper.class.getProtectionDomain().getCodeSource().getLocation());
        path.add(Nullable.class.getProtectionDomain().getCodeSource().getLocation());
        SortedSet<String> names = new TreeSet<String>();
        SortedSet<String> packages = exported(".");
        try (URLClassLoader loader = new URLClassLoader(path.toArray(new URL[0]),
                ClassLoader.getSystemClassLoader().getParent())) {
            for (String directory : directories) {
                final Path root = new File(directory).toPath();
                try (Stream<Path> files = Files.walk(root)) {
                    for (Object file : files.toArray()) {
                        String name = root.relativize((Path) file).toString().replace(File.separatorChar, '.');
                        String parent = name.replaceFirst("[.]?[^.]*[.]class$", "");
                        if (name.endsWith(".class") && packages.contains(parent)) {
                            add(names, loader.loadClass(name.substring(0, name.length() - 6)));
                        }
                    }
                }
            }
        }
        return names;
    }

    private static void add(SortedSet<String> names, Class<?> c) throws Exception {
        if (!Modifier.isPublic(c.getModifiers())) {
            return;
        }
        names.add(Modifier.toString(c.getModifiers()) + " " + c.getName() + " extends "
                + c.getSuperclass() + " implements "
                + Arrays.toString(c.getInterfaces()));
        for (Method m : c.getDeclaredMethods()) {
            add(names, m.getModifiers() & ~Modifier.SYNCHRONIZED, m.toString().replace(" synchronized", "")
                    + nullable(m.getAnnotatedReturnType()) + nullable(m.getAnnotatedParameterTypes()));
        }
        for (Field f : c.getDeclaredFields()) {
            boolean constant = Modifier.isPublic(f.getModifiers()) && Modifier.isStatic(f.getModifiers())
                    && Modifier.isFinal(f.getModifiers());
            // javac copies constants into the classes that use them.
            add(names, f.getModifiers(), f + (constant ? " = " + f.get(null) : "")
                    + nullable(f.getAnnotatedType()));
        }
        for (Constructor<?> k : c.getDeclaredConstructors()) {
            add(names, k.getModifiers(), k + nullable(k.getAnnotatedParameterTypes()));
        }
    }

    /** Returns which of the types are marked as nullable. */
    private static String nullable(AnnotatedType... types) {
        StringBuilder b = new StringBuilder(" ");
        for (AnnotatedType type : types) {
            boolean marked = false;
            for (Annotation a : type.getAnnotations()) {
                // The class of another class loader.
                marked |= a.annotationType().getName().equals(Nullable.class.getName());
            }
            b.append(marked ? '?' : '.');
        }
        return b.toString();
    }

    private static void add(SortedSet<String> names, int modifiers, String name) {
        if ((modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0) {
            names.add(name);
        }
    }
}
