import java.io.File;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Enumeration;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/**
 * Writes the classes of a jar with the stack sizes and frames that their code needs: IN OUT LIBRARY. dex2jar writes no
 * frames, and for some methods too small a stack.
 */
public final class Frames extends ClassWriter {
    private final ClassLoader loader;

    private Frames(ClassLoader loader) {
        super(COMPUTE_FRAMES);
        this.loader = loader;
    }

    public static void main(String[] args) throws Exception {
        URL[] path = {new File(args[0]).toURI().toURL(), new File(args[2]).toURI().toURL()};
        try (ZipFile in = new ZipFile(args[0]); URLClassLoader loader = new URLClassLoader(path);
                ZipOutputStream out = new ZipOutputStream(new FileOutputStream(args[1]))) {
            for (Enumeration<? extends ZipEntry> e = in.entries(); e.hasMoreElements();) {
                ZipEntry entry = e.nextElement();
                if (!entry.getName().endsWith(".class")) {
                    continue;
                }
                try (InputStream data = in.getInputStream(entry)) {
                    Frames w = new Frames(loader);
                    new ClassReader(data).accept(w, ClassReader.SKIP_FRAMES);
                    out.putNextEntry(new ZipEntry(entry.getName()));
                    out.write(w.toByteArray());
                }
            }
        }
    }

    @Override
    protected ClassLoader getClassLoader() {
        return loader;
    }
}
