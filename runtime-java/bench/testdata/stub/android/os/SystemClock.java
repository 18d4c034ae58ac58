package android.os;

/** Time as on Android. */
public final class SystemClock {
    private SystemClock() {
    }

    public static long uptimeMillis() {
        return System.nanoTime() / 1000000;
    }

    public static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
