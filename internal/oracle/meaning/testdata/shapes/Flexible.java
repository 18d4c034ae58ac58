// release: 25
import java.util.function.Supplier;

/** Code before super, which Java has from 25 on. */
public final class Flexible {
    static int check(int n) {
        if (n < 0) {
            throw new IllegalArgumentException("negative " + n);
        }
        return n;
    }

    static class Base {
        final int n;

        Base(int n) {
            this.n = n;
            show();
        }

        void show() {
        }
    }

    static class Derived extends Base {
        private final String name;

        Derived(int n) {
            if (n == 0) {
                throw new IllegalStateException("zero");
            }
            int sum = 0;
            for (int k = 0; k < n; k++) {
                try {
                    sum += check(2 - k);
                } catch (IllegalArgumentException e) {
                    sum -= 1;
                }
            }
            name = "set before super " + sum;
            super(sum);
            check(n - 1);
        }

        @Override
        void show() {
            Probe.out(name);
        }
    }

    // before: +Derived.<init> +check -check +check -check +Base.<init> +show -show -Base.<init> +check -check -Derived.<init>
    // before after-super,exact: +check -check +check -check +Base.<init> +show -show -Base.<init> +Derived.<init> +check -check -Derived.<init>
    // caughtBefore normal: +Derived.<init> +check -check +check -check +check -check +check +Base.<init> +show -show -Base.<init> +check -check -Derived.<init>
    // caughtBefore throws: +Derived.<init> +check -check +check -check +check -check +check -check +Base.<init> +show -show -Base.<init> +check -check -Derived.<init>
    // caughtBefore after-super,exact: +check -check +check -check +check -check +check -check +Base.<init> +show -show -Base.<init> +Derived.<init> +check -check -Derived.<init>
    // zero normal: +Derived.<init>
    // zero throws: +Derived.<init> -Derived.<init>
    // zero after-super,exact:

    static class Branching extends Base {
        Branching(int n) {
            switch (n) {
                case 1 -> {
                    check(1);
                }
                case 2 -> throw new IllegalStateException("two");
                default -> {
                    Supplier<Integer> s = () -> check(n);
                    s.get();
                }
            }
            super(n > 1 ? check(n) : n);
            if (n == 4) {
                return;
            }
            if (n == 5) {
                throw new IllegalStateException("five");
            }
        }
    }

    // one: +Branching.<init> +check -check +Base.<init> +show -show -Base.<init> -Branching.<init>
    // one after-super,exact: +check -check +Base.<init> +show -show -Base.<init> +Branching.<init> -Branching.<init>
    // two normal: +Branching.<init>
    // two throws: +Branching.<init> -Branching.<init>
    // two after-super,exact:
    // four: +Branching.<init> +lambda +check -check -lambda +check -check +Base.<init> +show -show -Base.<init> -Branching.<init>
    // four after-super,exact: +lambda +check -check -lambda +check -check +Base.<init> +show -show -Base.<init> +Branching.<init> -Branching.<init>
    // five normal: +Branching.<init> +lambda +check -check -lambda +check -check +Base.<init> +show -show -Base.<init>
    // five throws: +Branching.<init> +lambda +check -check -lambda +check -check +Base.<init> +show -show -Base.<init> -Branching.<init>
    // five after-super,exact: +lambda +check -check -lambda +check -check +Base.<init> +show -show -Base.<init> +Branching.<init> -Branching.<init>

    public static void main(String[] args) {
        Probe.mark("before");
        Probe.out(new Derived(2).n);
        Probe.mark("caughtBefore");
        Probe.out(new Derived(4).n);
        String[] names = {"zero", "one", "two", "four", "five"};
        for (String name : names) {
            Probe.mark(name);
            try {
                switch (name) {
                    case "zero" -> Probe.out(new Derived(0).n);
                    case "one" -> Probe.out(new Branching(1).n);
                    case "two" -> Probe.out(new Branching(2).n);
                    case "four" -> Probe.out(new Branching(4).n);
                    default -> Probe.out(new Branching(5).n);
                }
            } catch (IllegalStateException e) {
                Probe.out(e);
            }
        }
        Probe.mark("done");
    }
}
