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

    /** Runs r in a thread of its own and waits for it. What r throws is noted. */
    public static void thread(Runnable r) {
        Thread t = new Thread(() -> {
            try {
                r.run();
            } catch (Throwable e) {
                caught(e);
            }
        });
        t.start();
        try {
            t.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Makes the constants c0 to c2 of an int or a long. There is no other. */
    public static Object constant(MethodHandles.Lookup l, String name, Class<?> type) {
        int n = name.charAt(1) - '0';
        if (n > 2) {
            throw new IllegalArgumentException(name);
        }
        return type == long.class ? (Object) (n + (1L << 33)) : (Object) (n - 7);
    }

    public static CallSite link(MethodHandles.Lookup l, String name, MethodType type) throws Exception {
        return new ConstantCallSite(l.findStatic(l.lookupClass(), name, type));
    }
}
