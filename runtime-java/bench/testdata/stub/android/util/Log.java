package android.util;

/** Silent. */
public final class Log {
    private Log() {
    }

    public static int v(String tag, String text) {
        return 0;
    }

    public static int i(String tag, String text) {
        return 0;
    }

    public static int d(String tag, String text) {
        return 0;
    }

    public static int w(String tag, String text) {
        return 0;
    }

    public static int e(String tag, String text) {
        System.err.println(tag + ": " + text);
        return 0;
    }

    public static String getStackTraceString(Throwable e) {
        return String.valueOf(e);
    }
}
