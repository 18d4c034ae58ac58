import dalvik.annotation.optimization.FastNative;
import dalvik.system.DexFile;
import dalvik.system.PathClassLoader;
import java.util.ArrayList;
import java.util.Collections;

/**
 * Asks ART's verifier about each class of the first file; the other files are only there to be found. Prints a row a
 * class, with the verdict, the name and the message, and last the number of rows.
 */
public class Verify {
    private static final String[] VERDICTS = {"ok", "access-checks", "soft", "hard"};

    /** Verifies a class as ART does before it initializes one. The class does not change. */
    @FastNative
    private static native int verify(Class<?> c, String[] message);

    public static void main(String[] args) throws Exception {
        System.load(System.getProperty("verify.lib"));
        ArrayList<String> names = Collections.list(new DexFile(args[0]).entries());
        Collections.sort(names);
        ClassLoader loader = new PathClassLoader(String.join(":", args), Object.class.getClassLoader());
        StringBuilder out = new StringBuilder();
        for (String name : names) {
            String verdict;
            String[] message = {""};
            try {
                verdict = VERDICTS[verify(Class.forName(name, false, loader), message)];
            } catch (Throwable t) {
                verdict = "unlinked";
                message[0] = t.toString();
            }
            out.append(verdict).append('\t').append(name).append('\t')
                .append(message[0].replace('\n', ' ').replace('\t', ' ')).append('\n');
        }
        System.out.println(out + "total\t" + names.size());
    }
}
