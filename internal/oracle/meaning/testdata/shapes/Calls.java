// release: 8
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.Supplier;

/** Ways to be called: lambdas, method references, interfaces, bridges, reflection, recursion. */
public final class Calls {
    private int field = 3;

    static int leaf() {
        return 41;
    }

    // lambdas: +lambdas +lambda +leaf -leaf -lambda +lambda -lambda -lambdas
    static int lambdas(int captured) {
        Supplier<Integer> s = () -> leaf() + captured;
        IntBinaryOperator o = (a, b) -> a * b;
        return o.applyAsInt(s.get(), 2);
    }

    // thrownByLambda exact: +thrownByLambda +lambda -lambda -thrownByLambda
    // thrownByLambda throws: +thrownByLambda +lambda -lambda
    // thrownByLambda normal: +thrownByLambda +lambda
    static void thrownByLambda() throws Exception {
        Callable<String> c = () -> {
            throw new java.io.IOException("lambda");
        };
        c.call();
    }

    // references: +references +leaf -leaf +Calls.<init> -Calls.<init> +bound -bound +bound -bound -references
    static int references() {
        Supplier<Integer> s = Calls::leaf;
        Supplier<Calls> constructor = Calls::new;
        int first = s.get();
        Calls made = constructor.get();
        Supplier<Integer> bound = made::bound;
        Function<Calls, Integer> unbound = Calls::bound;
        return first + bound.get() + unbound.apply(made);
    }

    int bound() {
        return field;
    }

    interface Named {
        String name();

        default String greet() {
            return "hello " + name() + suffix();
        }

        static String suffix() {
            return "!";
        }
    }

    interface Loud extends Named {
        @Override
        default String greet() {
            return Named.super.greet().toUpperCase();
        }
    }

    static class Dog implements Loud {
        @Override
        public String name() {
            return "rex";
        }
    }

    // defaults: +Dog.<init> -Dog.<init> +greet +greet +name -name +suffix -suffix -greet -greet

    abstract static class Shape<T extends Comparable<T>> implements Comparable<Shape<T>> {
        abstract T key();

        @Override
        public int compareTo(Shape<T> o) {
            return key().compareTo(o.key());
        }
    }

    static class Square extends Shape<Integer> {
        private final int side;

        Square(int side) {
            this.side = side;
        }

        @Override
        Integer key() {
            return side;
        }
    }

    // Bridges are not traced: what they call is.
    // bridges: (+Square.<init> +Shape.<init> -Shape.<init> -Square.<init>)*2 +compareTo (+key -key)*2 -compareTo
    // bridges after-super,exact: (+Shape.<init> -Shape.<init> +Square.<init> -Square.<init>)*2 +compareTo (+key -key)*2 -compareTo

    // varargs: (+sum -sum)*3
    static long sum(long... n) {
        long total = 0;
        for (long x : n) {
            total += x;
        }
        return total;
    }

    // recursion: +ackermann +ackermann +ackermann -ackermann -ackermann +ackermann -ackermann -ackermann
    static int ackermann(int m, int n) {
        if (m == 0) {
            return n + 1;
        }
        return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
    }

    // mutual: +even +odd +even +odd -odd -even -odd -even
    static boolean even(int n) {
        return n == 0 || odd(n - 1);
    }

    static boolean odd(int n) {
        return n != 0 && even(n - 1);
    }

    static class Countdown implements Iterable<Integer> {
        @Override
        public Iterator<Integer> iterator() {
            return new Iterator<Integer>() {
                private int left = 2;

                @Override
                public boolean hasNext() {
                    return left > 0;
                }

                @Override
                public Integer next() {
                    return left--;
                }
            };
        }
    }

    // iterator: +Countdown.<init> -Countdown.<init> +iterator +1.<init> -1.<init> -iterator (+hasNext -hasNext +next -next)*2 +hasNext -hasNext

    // reflection exact: +thrower -thrower
    // reflection throws: +thrower -thrower
    // reflection normal: +thrower
    public static void thrower(String why) {
        throw new IllegalArgumentException(why);
    }

    // wide: +wide +leaf -leaf -wide
    static double wide(long a, double b, float c, byte d, char e, boolean f, Object... g) {
        long x = a << 3 ^ d;
        double y = f ? b : c;
        return x + y * e + g.length + leaf();
    }

    private static native int missing();

    public static void main(String[] args) throws Exception {
        Probe.mark("lambdas");
        Probe.out(lambdas(1));
        Probe.mark("thrownByLambda");
        try {
            thrownByLambda();
        } catch (java.io.IOException e) {
            Probe.out(e.getMessage());
        }
        Probe.mark("references");
        Probe.out(references());
        Probe.mark("defaults");
        Probe.out(new Dog().greet());
        Probe.mark("bridges");
        int order = ((Comparable) new Square(3)).compareTo(new Square(2));
        Probe.out(order);
        Probe.mark("varargs");
        Probe.out(sum() + sum(1) + sum(1, 2, 3));
        Probe.mark("recursion");
        Probe.out(ackermann(1, 1));
        Probe.mark("mutual");
        Probe.out(even(3));
        Probe.mark("iterator");
        Countdown all = new Countdown();
        int n = 0;
        for (int k : all) {
            n = n * 10 + k;
        }
        Probe.out(n);
        Probe.mark("reflection");
        try {
            Calls.class.getMethod("thrower", String.class).invoke(null, "why");
        } catch (InvocationTargetException e) {
            Probe.out(e.getCause().getMessage());
        }
        Probe.mark("wide");
        Probe.out(wide(5L, 2.5, 1.5f, (byte) 3, 'x', true, 1, "two"));
        Probe.mark("native");
        try {
            missing();
        } catch (UnsatisfiedLinkError e) {
            Probe.out(Arrays.toString(args));
        }
        Probe.mark("done");
    }
}
