/** Prints T.f(100), of the class T on the class path. */
public class Run {
    public static void main(String[] args) throws ReflectiveOperationException {
        System.out.println(Class.forName("T", true, ClassLoader.getSystemClassLoader()).getMethod("f", int.class).invoke(null, 100));
    }
}
