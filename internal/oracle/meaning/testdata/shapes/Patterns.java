// release: 21
/** Pattern switches and record patterns. */
public final class Patterns {
    sealed interface Expr permits Num, Sum, Neg {
    }

    record Num(int n) implements Expr {
    }

    record Sum(Expr left, Expr right) implements Expr {
    }

    record Neg(Expr of) implements Expr {
    }

    enum Mood { GOOD, BAD }

    // The accessors that the patterns call are traced with --trivial none.
    // exprs: +eval +left -left +right -right +eval +n -n -eval +eval +of -of +eval +n -n -eval -eval -eval
    static int eval(Expr e) {
        return switch (e) {
            case Num(int n) -> n;
            case Sum(Expr l, Expr r) -> eval(l) + eval(r);
            case Neg(Expr of) -> -eval(of);
        };
    }

    // guards: (+guard -guard)*5
    static String guard(Object o) {
        return switch (o) {
            case null -> "null";
            case String s when s.length() > 3 -> "long " + s;
            case String s -> "short " + s;
            case Mood m when m == Mood.GOOD -> "good";
            case int[] a -> "ints " + a.length;
            default -> "other";
        };
    }

    // thrownByAccessor exact: +swap +key -key -swap
    // thrownByAccessor throws: +swap +key -key -swap
    // thrownByAccessor normal: +swap +key
    record Bad(int key) {
        @Override
        public int key() {
            throw new IllegalStateException("key");
        }
    }

    static int swap(Object o) {
        return o instanceof Bad(int k) ? k : 0;
    }

    public static void main(String[] args) {
        Expr e = new Sum(new Num(3), new Neg(new Num(2)));
        Probe.mark("exprs");
        Probe.out(eval(e));
        Probe.mark("initialisers");
        guard(Mood.BAD);
        Probe.mark("guards");
        Probe.out(guard(null) + guard("long one") + guard("s") + guard(Mood.GOOD) + guard(new int[2]));
        Probe.mark("constructor");
        Object bad = new Bad(1);
        Probe.mark("thrownByAccessor");
        try {
            swap(bad);
        } catch (RuntimeException m) { // a MatchException; D8 has another in its place
            Probe.out(m.getCause().getMessage());
        }
        Probe.mark("done");
    }
}
