/** Stack map frames with uninitialised objects, several at once, and locals of two words that are taken over. */
public class Frames {
    private final Object made;

    Frames(boolean a, int n) {
        this(a ? new StringBuilder(n > 3 ? "many" : new String(a ? "x" : "y")) : null);
    }

    Frames(Object made) {
        super();
        this.made = made != null ? made : "none";
    }

    static Object nested(boolean a, boolean b, long n) {
        return new Frames(new StringBuilder(new String(a ? "p" : b ? "q" : "r") + (n > 0 ? n : 2.5)));
    }

    static double reused(int n, Object[] all, int[][] grid) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            {
                long wide = n * 3L;
                if (wide > 10) {
                    sum += wide;
                }
            }
            {
                int narrow = grid[i][i % 2];
                float next = narrow > 4 ? 1 : narrow;
                sum += next;
            }
            Object each = all[i];
            String text = each instanceof String s && !s.isEmpty() ? s : String.valueOf(each);
            sum += text.length() > 2 ? text.charAt(2) : (byte) text.length();
        }
        return sum;
    }
}
