package dev.tracegen.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** An app that is built with the one must link with the other. */
class SurfaceTest {
    @Test
    void theCoreAndTheNoOpHaveOneSurface() throws Exception {
        SortedSet<String> core = surface(new File("../core/target/classes"));
        assertTrue(core.size() > 100, core.size() + " names only");
        assertEquals(String.join("\n", core), String.join("\n", surface(new File("target/classes"))));
    }

    private static SortedSet<String> surface(File classes) throws Exception {
        File stub = new File("../android-stub/target/classes");
        URL[] path = {classes.toURI().toURL(), stub.toURI().toURL()};
        SortedSet<String> names = new TreeSet<String>();
        try (URLClassLoader loader = new URLClassLoader(path, ClassLoader.getSystemClassLoader().getParent())) {
            for (String file : new File(classes, "dev/tracegen/runtime").list()) {
                if (file.endsWith(".class")) {
                    add(names, loader.loadClass("dev.tracegen.runtime." + file.substring(0, file.length() - 6)));
                }
            }
        }
        return names;
    }

    private static void add(SortedSet<String> names, Class<?> c) {
        if (!Modifier.isPublic(c.getModifiers())) {
            return;
        }
        names.add(Modifier.toString(c.getModifiers()) + " " + c.getName() + " extends " + c.getSuperclass());
        for (Method m : c.getDeclaredMethods()) {
            add(names, m.getModifiers() & ~Modifier.SYNCHRONIZED, m.toString().replace(" synchronized", ""));
        }
        for (Field f : c.getDeclaredFields()) {
            add(names, f.getModifiers(), f.toString());
        }
        for (Constructor<?> k : c.getDeclaredConstructors()) {
            add(names, k.getModifiers(), k.toString());
        }
    }

    private static void add(SortedSet<String> names, int modifiers, String name) {
        if ((modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0) {
            names.add(name);
        }
    }
}
