package app;

/** The work of a frame: many calls of small methods, which only a test would trace. */
public final class Load {
    private int state = 1;
    private int calls;

    /** The number of method calls. */
    public int frame(int n) {
        calls = 1;
        for (int k = 0; k < n; k++) {
            step(k);
        }
        return calls;
    }

    private void step(int k) {
        calls++;
        mix(k);
        mix(state);
    }

    private void mix(int with) {
        calls++;
        for (int k = 0; k < 4; k++) {
            state = state * 31 + (with ^ state >>> 7);
        }
    }
}
