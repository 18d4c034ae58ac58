import java.util.function.Supplier;

/** Makes javac write every kind of constant that Java source of release 17 leads to. */
public class Constants {
    static final int INT = 1 << 20;
    static final float FLOAT = 0.1f;
    static final long LONG = 1L << 40;
    static final double DOUBLE = Math.E;
    static final String STRING = "plain";

    static Object ldc(int which) {
        switch (which) {
            case 0: return 123_456;
            case 1: return 12.5f;
            case 2: return 1L << 33;
            case 3: return 2.25;
            case 4: return "string";
            case 5: return Constants.class;
            case 6: return int[][].class;
            default: return new Object[which][2][];
        }
    }

    static String calls(CharSequence c, Supplier<String> s) {
        Supplier<String> bound = c::toString;
        Runnable lambda = () -> System.out.println(s.get() + LONG);
        lambda.run();
        return bound.get() + c.length() + INT + which();
    }

    private static int which() {
        return "plain".length();
    }
}
