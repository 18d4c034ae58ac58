package shapes;

/** Records, sealed types, switch expressions, text blocks, patterns of instanceof. */
public sealed interface Since17 permits Since17.Circle, Since17.Square {
    record Circle(double radius) implements Since17 {
        public Circle {
            if (radius < 0) {
                throw new IllegalArgumentException("""
                        a radius
                        below nothing""");
            }
        }
    }

    record Square(long side) implements Since17 {
    }

    enum Kind { A, B, C }

    static double area(Since17 s) {
        if (s instanceof Circle c && c.radius() > 1) {
            return Math.PI * c.radius() * c.radius();
        }
        return s instanceof Square q ? q.side() * q.side() : 0;
    }

    static int of(Kind k) {
        return switch (k) {
            case A -> 1;
            case B -> {
                int n = k.name().length();
                yield n + 1;
            }
            case C -> throw new IllegalStateException(k.name());
        };
    }
}
