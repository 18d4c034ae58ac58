package host;

import java.lang.invoke.*;

/** What programs call. */
public final class Host {
    private static final Object LOCK = new Object();
    static int fuel;
    static StringBuilder text;
    static String prefix;

    public static boolean spend() {
        return --fuel > 0;
    }

    public static Object lock() {
        return LOCK;
    }

    public static void value(int v) {
        text.append(v).append(' ');
    }

    public static void caught(Throwable t) {
        text.append(t.getClass().getName()).append(':').append(t.getMessage());
        for (StackTraceElement e : t.getStackTrace()) {
            if (e.getClassName().startsWith(prefix)) {
                text.append(' ').append(e.getClassName()).append('.').append(e.getMethodName())
                    .append(':').append(e.getLineNumber());
            }
        }
        text.append('\n');
    }

    public static CallSite link(MethodHandles.Lookup l, String name, MethodType type) throws Exception {
        return new ConstantCallSite(l.findStatic(l.lookupClass(), name, type));
    }
}
