import dalvik.system.DexFile;
import dalvik.system.PathClassLoader;
import java.util.ArrayList;
import java.util.Collections;

/**
 * Has the optimizing compiler compile each method of the first file; the other files are only there to be found. Prints
 * a row for each method that it does not compile and each class that cannot be linked, and last the number of rows and
 * that of compiled methods.
 */
public class CompileAll {
    /** Verifies a class: the compiler inlines no method of a class that is not verified. */
    private static native void verify(Class<?> c);

    /** Returns the rows of a class, and adds the number of compiled methods. */
    private static native String compile(Class<?> c, int[] compiled);

    public static void main(String[] args) throws Exception {
        System.load(System.getProperty("compileall.lib"));
        ArrayList<String> names = Collections.list(new DexFile(args[0]).entries());
        Collections.sort(names);
        ClassLoader loader = new PathClassLoader(String.join(":", args), Object.class.getClassLoader());
        StringBuilder out = new StringBuilder();
        ArrayList<Class<?>> classes = new ArrayList<>();
        for (String name : names) {
            try {
                Class<?> c = Class.forName(name, false, loader);
                verify(c);
                classes.add(c);
            } catch (Throwable t) {
                out.append("unlinked\t").append(name).append('\n');
            }
        }
        int[] compiled = {0};
        for (Class<?> c : classes) out.append(compile(c, compiled));
        int rows = (int) out.chars().filter(c -> c == '\n').count();
        System.out.println(out + "total\t" + rows + "\t" + compiled[0]);
    }
}
