package plant;

/** What a Clojure script calls, and what sleeps. */
public final class Retry {
    private Retry() {
    }

    public static long call() throws InterruptedException {
        return attempt(1);
    }

    private static long attempt(long n) throws InterruptedException {
        return n == 4 ? n : backOff(n) + attempt(n + 1);
    }

    private static long backOff(long n) throws InterruptedException {
        Thread.sleep(1500 * n);
        return n;
    }
}
