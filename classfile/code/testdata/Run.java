import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/** Prints T.f(100), of the class T in each directory that is given. */
public class Run {
    public static void main(String[] directories) throws Exception {
        for (String directory : directories) {
            try (URLClassLoader loader = new URLClassLoader(new URL[] {Path.of(directory).toUri().toURL()}, null)) {
                System.out.println(loader.loadClass("T").getMethod("f", int.class).invoke(null, 100));
            }
        }
    }
}
