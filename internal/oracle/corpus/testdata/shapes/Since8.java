package shapes;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/** Language features that every release since 8 compiles: exceptions, switches, lambdas, nests, monitors. */
public class Since8 {
    private int secret;

    public Since8() {
        this(Integer.parseInt("7"));
    }

    public Since8(int n) {
        super();
        secret = n > 3 ? n : -n;
    }

    class Inner {
        int peek() {
            return secret++;
        }
    }

    static int words(String s) {
        switch (s) {
            case "one":
                return 1;
            case "two":
                return 2;
            default:
                throw new IllegalArgumentException(s);
        }
    }

    static long dense(int a) {
        switch (a) {
            case 1: return 1L;
            case 2: return 22L;
            case 3: return 333L;
            default: return -1L;
        }
    }

    static int nested(int[] a) {
        int sum = 0;
        outer:
        for (int k = 0; ; k++) {
            try {
                for (int b : a) {
                    if (b == k) {
                        continue outer;
                    }
                    sum += b / k;
                }
                return sum;
            } catch (ArithmeticException e) {
                sum--;
            } finally {
                sum++;
            }
        }
    }

    synchronized double locked(Object o) throws IOException {
        synchronized (o) {
            try (ByteArrayOutputStream out = new ByteArrayOutputStream()) {
                out.write(secret);
                return out.size();
            }
        }
    }

    static <T> Supplier<List<T>> maker() {
        return ArrayList::new;
    }

    static Function<Integer, Function<Integer, Integer>> adder() {
        return a -> b -> a + b;
    }

    interface Greeter {
        String name();

        default String greet() {
            return "hello " + name() + ", " + new Object() {
                @Override
                public String toString() {
                    return name();
                }
            };
        }

        static Greeter of(String s) {
            return () -> s;
        }
    }

    enum Level {
        LOW,
        HIGH {
            @Override
            int weight() {
                return 9;
            }
        };

        int weight() {
            return 1;
        }
    }
}
