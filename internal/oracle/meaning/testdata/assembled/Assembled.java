/** Calls the methods that Assemble wrote. */
public final class Assembled {
    private Assembled() {
    }

    interface Method {
        int call(int a, int b);
    }

    public static class Base {
        public Base(int n) {
            Probe.out("base " + n);
        }
    }

    static int leaf() {
        return 41;
    }

    static int work(int n) {
        if (n < 0) {
            throw new IllegalArgumentException("negative");
        }
        return n * 2;
    }

    /** Runs every path through a method. */
    static void all(String name, Method m, int step) {
        long sum = 0;
        for (int k = -64; k < 64 * 70; k += step) {
            sum = sum * 31 + m.call(k, k);
        }
        Probe.out(name + " " + sum);
    }

    public static void main(String[] args) {
        Probe.mark("jsrReturns");
        Probe.out(Subroutines.guarded(4));
        Probe.mark("jsrThrows");
        try {
            Subroutines.guarded(-1);
        } catch (IllegalArgumentException e) {
            Probe.out(e.getMessage());
        }
        Probe.mark("jsrNested");
        Probe.out(Subroutines.nested(1));
        Probe.mark("jsrLeaves");
        try {
            Probe.out(Subroutines.leaves(3));
            Subroutines.leaves(-3);
        } catch (IllegalStateException e) {
            Probe.out(e.getMessage());
        }
        Probe.mark("jsrLooped");
        Probe.out(Subroutines.looped(3));
        Probe.mark("superFirst");
        new Twice(1);
        Probe.mark("superSecond");
        new Twice(-1);
        try {
            Probe.mark("superNever");
            new Twice(0);
        } catch (NullPointerException e) {
            Probe.out("never");
        }
        try {
            Probe.mark("thisLoops");
            new Twice(2, true);
        } catch (NullPointerException e) {
            Probe.out("twice");
        }
        Probe.mark("far");
        all("forward", Far48::forward, 32);
        all("wide", Far48::wide, 32);
        all("backward", Far48::backward, 64);
        all("table", Far48::table, 1);
        all("lookup", Far48::lookup, 1);
        all("large", Far48::large, 32);
        all("tooLarge", Far48::tooLarge, 32);
        all("compilable", Far48::compilable, 32);
        all("subroutine", Far48::subroutine, 32);
        all("forward", Far52::forward, 32);
        all("wide", Far52::wide, 32);
        all("backward", Far52::backward, 64);
        all("table", Far52::table, 1);
        all("lookup", Far52::lookup, 1);
        all("large", Far52::large, 32);
        all("tooLarge", Far52::tooLarge, 32);
        all("compilable", Far52::compilable, 32);
        all("fat", Fat::run, 500);
        Probe.mark("done");
    }
}
