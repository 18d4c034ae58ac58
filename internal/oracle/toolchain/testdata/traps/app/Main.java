package app;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * What D8 and R8 take apart: lambdas, method references, default and static methods of interfaces, a class that is used
 * nowhere, try with resources, switches over strings, enums with bodies, bridges, and nested classes.
 */
public final class Main {
    private Main() {
    }

    interface Shape {
        int sides();

        /** A default method, which D8 moves into a class of its own below API 24. */
        default String describe() {
            StringBuilder b = new StringBuilder(name());
            for (int k = 0; k < sides(); k++) {
                b.append('/');
            }
            return b.toString();
        }

        default String name() {
            return sides() == 3 ? "triangle" : "shape";
        }

        /** A static method, which moves, too. */
        static Shape of(int sides) {
            if (sides < 3) {
                throw new IllegalArgumentException("too few sides: " + sides);
            }
            return () -> sides;
        }
    }

    /** Overrides one default method and inherits the other. */
    static final class Square implements Shape, Comparable<Square> {
        @Override
        public int sides() {
            return 4;
        }

        @Override
        public String name() {
            return "square of " + Shape.super.name();
        }

        @Override
        public int compareTo(Square other) {
            return Integer.compare(sides(), other.sides());
        }
    }

    enum Operation {
        ADD {
            @Override
            int apply(int a, int b) {
                return a + b;
            }
        },
        DIVIDE {
            @Override
            int apply(int a, int b) {
                return a / b;
            }
        };

        abstract int apply(int a, int b);
    }

    static final class Door implements AutoCloseable {
        private final List<String> log;

        Door(List<String> log) {
            this.log = log;
            log.add("open");
        }

        void pass(boolean fail) {
            if (fail) {
                throw new IllegalStateException("no way");
            }
            log.add("passed");
        }

        @Override
        public void close() {
            log.add("closed");
        }
    }

    static List<String> doors(boolean fail) {
        List<String> log = new ArrayList<>();
        try (Door one = new Door(log); Door two = new Door(log)) {
            one.pass(false);
            two.pass(fail);
        } catch (IllegalStateException e) {
            log.add(e.getMessage());
        } finally {
            log.add("end");
        }
        return log;
    }

    static int number(String word) {
        switch (word) {
            case "one":
                return 1;
            case "two":
                return 2;
            default:
                return word.length();
        }
    }

    static <T> T call(Callable<T> task) {
        try {
            return task.call();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Nested calls whose exceptions leave several methods at once. */
    static int depth(int n) {
        if (n == 0) {
            throw new UnsupportedOperationException("bottom");
        }
        return depth(n - 1) + 1;
    }

    static String bottom() {
        try {
            return "depth " + depth(5);
        } catch (UnsupportedOperationException e) {
            return e.getMessage();
        }
    }

    /** Holds a lock while exceptions pass. */
    static synchronized int locked(int[] numbers, int at) {
        synchronized (numbers) {
            return numbers[at];
        }
    }

    static String outside() {
        try {
            return "" + locked(new int[1], 1);
        } catch (ArrayIndexOutOfBoundsException e) {
            return "outside";
        }
    }

    public static void main(String[] args) throws Exception {
        List<Shape> shapes = Arrays.asList(Shape.of(3), new Square(), Shape.of(5));
        for (Shape s : shapes) {
            System.out.println(s.describe());
        }
        System.out.println(new Square().compareTo(new Square()));
        for (Operation o : Operation.values()) {
            System.out.println(o + " " + o.apply(12, 4));
        }
        System.out.println(doors(false) + " " + doors(true));
        System.out.println(number("one") + number("two") + number("three"));
        int base = args.length;
        Callable<Integer> lambda = () -> base + number("four");
        System.out.println(call(lambda) + " " + call(Main::bottom) + " " + call(Main::outside));
        try {
            Shape.of(2);
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
        System.out.println(Large.sum(3) + " " + Wide.sum());
    }

    /** Nothing uses this class: R8 removes it, and the IDs of its methods stay in the mapping. */
    static final class Unused {
        static String text() {
            return Arrays.asList(1, 2, 3).toString();
        }
    }
}
