// release: 8
import java.util.ArrayList;
import java.util.List;

/** The places where a constructor's entry is reported, and the ways out of it before and after super. */
public final class Constructors {
    static int made;

    static int argument(int n) {
        if (n < 0) {
            throw new IllegalArgumentException("negative");
        }
        return n;
    }

    static class Base {
        final int n;

        Base(int n) {
            this.n = argument(n);
            hook();
        }

        void hook() {
            made++;
        }
    }

    static class Derived extends Base {
        private final List<String> list = new ArrayList<>();

        Derived(int a, boolean b) {
            super(b ? argument(a) : a > 5 ? 1 : 2);
            list.add("x");
        }

        // this() is the call that initialises, so the entry is behind it.
        Derived(int a) {
            this(argument(a), true);
            list.add("y");
        }

        Derived() {
            this(7);
        }

        @Override
        void hook() {
            made += list == null ? 100 : 1;
        }
    }

    // ternary: +Derived.<init> +argument -argument +Base.<init> +argument -argument +hook -hook -Base.<init> -Derived.<init>
    // ternary after-super,exact: +argument -argument +Base.<init> +argument -argument +hook -hook -Base.<init> +Derived.<init> -Derived.<init>

    // chain: +Derived.<init> +Derived.<init> +argument -argument +Derived.<init> +argument -argument +Base.<init> +argument -argument +hook -hook -Base.<init> -Derived.<init> -Derived.<init> -Derived.<init>
    // chain after-super,exact: +argument -argument +argument -argument +Base.<init> +argument -argument +hook -hook -Base.<init> +Derived.<init> -Derived.<init> +Derived.<init> -Derived.<init> +Derived.<init> -Derived.<init>

    // A throw in the arguments: nothing was entered when the entry is behind super.
    // throwInArguments normal: +Derived.<init> +argument
    // throwInArguments throws: +Derived.<init> +argument -argument
    // throwInArguments after-super,exact: +argument -argument

    // throwInSuper normal: +NegativeSuper.<init> +Base.<init> +argument
    // throwInSuper throws: +NegativeSuper.<init> +Base.<init> +argument -argument
    // throwInSuper after-super: +Base.<init> +argument -argument
    // throwInSuper exact: +Base.<init> +argument -argument -Base.<init>

    static class NegativeSuper extends Base {
        NegativeSuper() {
            super(-5);
        }
    }

    static class Late {
        final int a = argument(1);
        int b;

        {
            b = argument(2);
        }

        Late(int n) {
            try {
                b += argument(n);
            } catch (IllegalArgumentException e) {
                b = -1;
            } finally {
                made++;
            }
            if (n == 9) {
                throw new IllegalStateException("nine");
            }
        }
    }

    // tryInside normal: +Late.<init> +argument -argument +argument -argument +argument -Late.<init>
    // tryInside: +Late.<init> +argument -argument +argument -argument +argument -argument -Late.<init>

    // throwAfter normal: +Late.<init> +argument -argument +argument -argument +argument -argument
    // throwAfter: +Late.<init> +argument -argument +argument -argument +argument -argument -Late.<init>

    class Inner {
        final int sum;

        Inner(int captured) {
            sum = captured + made;
        }
    }

    // captures: +captures +Constructors.<init> -Constructors.<init> +Inner.<init> -Inner.<init> +1.<init> +Inner.<init> -Inner.<init> -1.<init> +toString +argument -argument -toString -captures
    // captures after-super,exact: +captures +Constructors.<init> -Constructors.<init> +Inner.<init> -Inner.<init> +Inner.<init> -Inner.<init> +1.<init> -1.<init> +toString +argument -argument -toString -captures
    static String captures(int local) {
        Constructors outer = new Constructors();
        Inner inner = outer.new Inner(1);
        Object anonymous = outer.new Inner(local) {
            @Override
            public String toString() {
                return "anonymous " + argument(local);
            }
        };
        return anonymous + " " + (inner.sum - made);
    }

    static class Box extends Base {
        final Box other;

        Box(Box other) {
            super(other == null ? 0 : other.n + 1);
            this.other = other;
        }

        @Override
        void hook() {
        }
    }

    // Two uninitialised objects at once.
    // nestedNew: +Box.<init> +Base.<init> +argument -argument +hook -hook -Base.<init> -Box.<init> +Box.<init> +Base.<init> +argument -argument +hook -hook -Base.<init> -Box.<init>
    // nestedNew after-super,exact: +Base.<init> +argument -argument +hook -hook -Base.<init> +Box.<init> -Box.<init> +Base.<init> +argument -argument +hook -hook -Base.<init> +Box.<init> -Box.<init>

    enum Level {
        LOW(1),
        HIGH(argument(2)) {
            @Override
            int value() {
                return 20;
            }
        };

        private final int value;

        Level(int value) {
            this.value = value;
        }

        int value() {
            return value;
        }
    }

    static class Broken {
        static int value = argument(-1);

        static void touch() {
            made++;
        }
    }

    // The first use fails in the initialiser; the second does not get that far.
    // failing exact: +failing +Broken.<clinit> +argument -argument -Broken.<clinit> -failing
    // failing throws: +failing +Broken.<clinit> +argument -argument
    // failing normal: +failing +Broken.<clinit> +argument
    // again exact: +failing -failing
    // again: +failing
    static void failing() {
        Broken.touch();
    }

    static class Early extends Exception {
        Early(boolean fail) throws Early {
            super(fail ? "fail" : "fine");
            if (fail) {
                throw this;
            }
        }
    }

    // throwsItself normal: +throwsItself +Early.<init> -Early.<init> +Early.<init>
    // throwsItself throws: +throwsItself +Early.<init> -Early.<init> +Early.<init> -Early.<init>
    // throwsItself exact: +throwsItself +Early.<init> -Early.<init> +Early.<init> -Early.<init> -throwsItself
    static void throwsItself() throws Early {
        new Early(false);
        new Early(true);
    }

    public static void main(String[] args) {
        for (int step = 0; ; step++) {
            try {
                if (!scenario(step)) {
                    return;
                }
            } catch (Throwable t) {
                Probe.out(t);
            }
        }
    }

    static boolean scenario(int step) throws Throwable {
        switch (step) {
            case 0: Probe.mark("ternary"); Probe.out(new Derived(3, true).n); return true;
            case 1: Probe.mark("chain"); Probe.out(new Derived().n); return true;
            case 2: Probe.mark("throwInArguments"); Probe.out(new Derived(-1, true).n); return true;
            case 3: Probe.mark("throwInSuper"); Probe.out(new NegativeSuper().n); return true;
            case 4: Probe.mark("tryInside"); Probe.out(new Late(-1).b); return true;
            case 5: Probe.mark("throwAfter"); Probe.out(new Late(9).b); return true;
            case 6: Probe.mark("captures"); Probe.out(captures(4)); return true;
            case 7: Probe.mark("nestedNew"); Probe.out(new Box(new Box(null)).other.n); return true;
            case 8: Probe.mark("levels"); Probe.out(Level.valueOf("HIGH").value() + Level.LOW.value()); return true;
            case 9: Probe.mark("failing"); failing(); return true;
            case 10: Probe.mark("again"); failing(); return true;
            case 11: Probe.mark("throwsItself"); throwsItself(); return true;
            case 12: Probe.mark("made"); Probe.out(made); return true;
            default: return false;
        }
    }
}
