// release: 17
import java.util.List;
import java.util.Objects;

/** Language features of Java up to 17: records, sealed interfaces, switch expressions, private interface methods. */
public final class Modern {
    static int leaf() {
        return 41;
    }

    record Point(int x, int y) {
        Point {
            if (x < 0) {
                throw new IllegalArgumentException("x " + x);
            }
        }

        Point(int both) {
            this(both, leaf());
        }

        static Point origin() {
            return new Point(0, 0);
        }

        double norm() {
            return Math.sqrt(x * x + y * y);
        }
    }

    // record: +origin +Point.<init> -Point.<init> -origin +norm -norm +Point.<init> -Point.<init> +equals -equals +hashCode -hashCode +toString -toString
    // secondConstructor: +Point.<init> +leaf -leaf +Point.<init> -Point.<init> -Point.<init> +y -y
    // secondConstructor after-super,exact: +leaf -leaf +Point.<init> -Point.<init> +Point.<init> -Point.<init> +y -y
    // negative normal: +Point.<init>
    // negative: +Point.<init> -Point.<init>

    sealed interface Shape permits Circle, Square, Group {
        private String kind() {
            return getClass().getSimpleName();
        }

        default String label() {
            return kind() + area();
        }

        int area();
    }

    record Circle(int r) implements Shape {
        @Override
        public int area() {
            return 3 * r * r;
        }
    }

    record Square(int a) implements Shape {
        @Override
        public int area() {
            return a * a;
        }
    }

    record Group(List<Shape> all) implements Shape {
        @Override
        public int area() {
            return all.stream().mapToInt(Shape::area).sum();
        }
    }

    // sealed: +label +kind -kind +area +area -area +area -area -area -label

    // yields exact: +yields -yields +yields +leaf -leaf -yields +yields -yields +yields -yields
    // yields throws: +yields -yields +yields +leaf -leaf -yields +yields -yields +yields -yields
    // yields normal: +yields -yields +yields +leaf -leaf -yields +yields -yields +yields
    static int yields(String s) {
        return switch (s) {
            case "a", "b" -> 1;
            case "c" -> {
                int n = leaf();
                yield n * 2;
            }
            case "throw" -> throw new IllegalStateException(s);
            default -> s.length();
        };
    }

    // patterns: +patterns -patterns +patterns -patterns +patterns -patterns
    static String patterns(Object o) {
        if (o instanceof String s && !s.isEmpty()) {
            return s.strip();
        }
        if (!(o instanceof Integer n)) {
            return Objects.toString(o);
        }
        return "int " + (n + 1);
    }

    private static class Nest {
        private int secret = 5;

        private int reveal() {
            return secret;
        }
    }

    // nest: +Nest.<init> -Nest.<init> +reveal -reveal

    public static void main(String[] args) {
        Probe.mark("record");
        Point p = Point.origin();
        Probe.out(p.norm());
        Probe.out(p.equals(new Point(1, 2)) + " " + p.hashCode() + " " + p);
        Probe.mark("secondConstructor");
        Probe.out(new Point(2).y());
        Probe.mark("negative");
        try {
            new Point(-1, 0);
        } catch (IllegalArgumentException e) {
            Probe.out(e);
        }
        Probe.mark("shapes");
        Shape g = new Group(List.of(new Circle(1), new Square(2)));
        Probe.mark("sealed");
        Probe.out(g.label());
        Probe.mark("yields");
        Probe.out(yields("a") + yields("c") + yields("four"));
        try {
            yields("throw");
        } catch (IllegalStateException e) {
            Probe.out(e);
        }
        Probe.mark("patterns");
        Probe.out(patterns(" x ") + patterns(3) + patterns(null));
        Probe.mark("nest");
        Probe.out(new Nest().reveal());
        Probe.mark("done");
    }
}
