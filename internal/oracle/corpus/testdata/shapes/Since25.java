package shapes;

/** Code before super(), with branches, calls, handlers and a throw. */
public class Since25 {
    static class Base {
        final int n;

        Base(int n) {
            this.n = n;
        }
    }

    static class Derived extends Base {
        final String text;

        Derived(String s) {
            int n;
            try {
                n = Integer.parseInt(s);
            } catch (NumberFormatException e) {
                n = -1;
            }
            if (n > 1000) {
                throw new IllegalArgumentException(s);
            }
            text = s;
            super(n);
            if (n < 0) {
                return;
            }
            System.getProperty(text);
        }

        Derived(boolean b) {
            if (b) {
                for (int k = 0; k < 3; k++) {
                    Integer.toString(k);
                }
            }
            this(b ? "1" : "2");
        }
    }
}
