package android.os;

/** A version. */
public class Build {
    public static class VERSION {
        public static final int SDK_INT = Integer.parseInt("28");
    }

    public static class VERSION_CODES {
        public static final int M = 23;
    }
}
