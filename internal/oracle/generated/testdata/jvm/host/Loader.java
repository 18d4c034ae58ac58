package host;

import java.util.*;

/** Loads the classes of a program from class files. */
final class Loader extends ClassLoader {
    private final Map<String, byte[]> classes;

    private Loader(Map<String, byte[]> classes) {
        super(Runner.class.getClassLoader());
        this.classes = classes;
    }

    static ClassLoader of(Map<String, byte[]> classes) {
        return new Loader(classes);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] data = classes.get(name);
        if (data == null) {
            throw new ClassNotFoundException(name);
        }
        return defineClass(name, data, 0, data.length);
    }
}
