package dev.tracegen.devicecheck;

/**
 * The steps of a measurement with {@link PairCost}. Each takes some milliseconds: a caller on the main thread posts one
 * after the other, because the recording samples the stack in a message that takes long, and would be measured too.
 */
final class CostRun {
    private static final int FIRST = 10;
    private static final int WARM_UP = 100;
    private static final int MEASURED = 60;

    private final PairCost cost;
    private final StringBuilder lines = new StringBuilder();
    private int step;
    private String state = "recording";

    CostRun(PairCost.Clock clock) {
        cost = new PairCost(clock);
    }

    /** Does the next step. Returns the milliseconds to wait before the step after it, or -1 behind the last one. */
    int step() {
        int now = step++;
        if (now < FIRST) {
            cost.batch(200);
            return now == FIRST - 1 ? end("first", 0) : 0;
        }
        cost.batch(3000);
        if (now < FIRST + WARM_UP) {
            // The compiler of ART needs a while on its own thread.
            return now == FIRST + WARM_UP - 1 ? end("warming", 1000) : 0;
        }
        return now < FIRST + WARM_UP + MEASURED - 1 ? 0 : end("warm", -1);
    }

    /** Measures again, after the recording was stopped. */
    void again(String newState) {
        state = newState;
        step = FIRST;
    }

    /** Returns what was measured: a line for each state and phase. */
    String lines() {
        return lines.toString();
    }

    private int end(String phase, int pause) {
        lines.append(cost.line(state + " " + phase)).append('\n');
        return pause;
    }
}
