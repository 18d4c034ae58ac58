/** A tight loop: nearly all time is in a method that is called a billion times, and each call takes nanoseconds. */
public final class Loop {
    private static long mix(long x) {
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
        return x % 1_000_003 == 0 ? x + 1 : x;
    }

    private static long round(long x) {
        for (int k = 0; k < 20_000_000; k++) {
            x = mix(x);
        }
        return x;
    }

    public static void main(String[] args) {
        long x = 1;
        for (int k = 0; k < 40; k++) {
            x = round(x);
        }
        System.out.println(x);
    }
}
