import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/** Shapes of control flow: branches, switches, handlers, monitors, constructors. */
public class Flow {
    enum Color { RED, GREEN, BLUE }

    private final int size;
    private long total;

    Flow(int n) {
        this(n > 0 ? new int[n] : null, n);
    }

    Flow(int[] data, int n) {
        super();
        size = data == null ? -n : data.length;
    }

    int table(int n) {
        switch (n) {
            case 1: return 10;
            case 2: n++;
            case 3: return n;
            case 5: throw new IllegalArgumentException("five");
            default: return -1;
        }
    }

    static int lookup(int n, Color c, String s) {
        switch (n) {
            case -1_000_000: return 1;
            case 7: return 2;
            case 1_000_000: return 3;
        }
        switch (c) {
            case RED: return 4;
            case BLUE: return 5;
            default:
        }
        return switch (s) {
            case "Aa", "BB" -> 6;
            case "C" -> 7;
            default -> 8;
        };
    }

    double loops(List<? extends Number> numbers, long bound) {
        double sum = 0;
        outer:
        for (Number n : numbers) {
            for (int i = 0; i < bound; i += 1000) {
                if (i == 4000 && n.intValue() != 3) {
                    continue outer;
                }
                sum += n.doubleValue() % 2.5;
            }
            while (total < bound && sum > 0 || n == null) {
                total += (long) sum;
                if (total < 0) {
                    break outer;
                }
            }
        }
        do {
            sum = -sum;
        } while (sum < 0);
        return sum;
    }

    String handlers(Closeable c, Object lock) throws IOException {
        String result = "none";
        try (Closeable d = c) {
            synchronized (lock) {
                result = String.valueOf(d);
                if (result.isEmpty()) {
                    return "empty";
                }
            }
        } catch (IllegalStateException | NullPointerException e) {
            result = e.getMessage();
        } catch (RuntimeException e) {
            throw new IOException(e);
        } finally {
            try {
                total++;
            } finally {
                total--;
            }
        }
        return result;
    }

    synchronized boolean conditions(Object a, Object b, boolean flag) {
        int[] grid = new int[] {1, 2, 3};
        grid[flag ? 0 : 1] <<= 2;
        return a == b ? !flag : a != null && (b instanceof String || a.equals(b)) ^ flag;
    }

    static native int missing();

    class Inner {
        int outerSize() {
            return size + (int) total;
        }
    }
}
