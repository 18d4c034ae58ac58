// release: 8, alone
/** Runs out of stack, as do the runtime's calls: see TestStackOverflow. */
public final class Overflow {
    private static int deepest;

    static int down(int n) {
        deepest = Math.max(deepest, n);
        return down(n + 1) + 1;
    }

    static int guarded(int n) {
        try {
            return guarded(n + 1) + 1;
        } finally {
            deepest = Math.max(deepest, n);
        }
    }

    public static void main(String[] args) {
        for (int k = 0; k < 5; k++) {
            deepest = 0;
            try {
                if (k % 2 == 0) {
                    down(0);
                } else {
                    guarded(0);
                }
            } catch (StackOverflowError e) {
                System.out.println(k + " " + (deepest > 1000));
            }
        }
    }
}
