import java.util.function.IntSupplier;

/** What releases after 8 added: records, sealed types, nest mates, patterns, code before super. */
public class Modern {
    sealed interface Shape permits Circle, Square {
        default double area() {
            return switch (this) {
                case Circle(double r) when r > 10 -> Double.POSITIVE_INFINITY;
                case Circle(double r) -> Math.PI * r * r;
                case Square s -> s.side() * s.side();
            };
        }
    }

    record Circle(@Deprecated double radius) implements Shape {
        Circle {
            if (radius < 0) {
                throw new IllegalArgumentException("radius " + radius);
            }
        }
    }

    record Square(double side) implements Shape {
    }

    enum Level { LOW, HIGH }

    static class Early extends Modern {
        private final int checked;

        Early(int n) {
            if (n < 0) {
                throw new IllegalArgumentException();
            }
            checked = n * 2;
            super();
        }
    }

    private int secret = 4;

    static String match(Object o) {
        return switch (o) {
            case null -> "null";
            case Level l when l == Level.LOW -> "low";
            case Level.HIGH -> "high";
            case Integer i when i > 5 -> "big";
            case String s -> s;
            default -> o.toString();
        };
    }

    IntSupplier nested() {
        return () -> new Object() {
            int get() {
                return secret;
            }
        }.get();
    }
}
