/**
 * Runs the main method of the class args[2] with the arguments behind it, and counts the instructions that calls of the
 * methods in the file args[0] execute; writes them into the file args[1].
 */
public class Steps {
    private static native void start(String methods);

    private static native void write(String counted);

    public static void main(String[] args) throws Exception {
        System.load(System.getProperty("steps.lib"));
        java.lang.reflect.Method main = Class.forName(args[2]).getMethod("main", String[].class);
        start(args[0]);
        main.invoke(null, (Object) java.util.Arrays.copyOfRange(args, 3, args.length));
        write(args[1]);
    }
}
