package dev.tracegen.runtime;

/** Compares exits with a shadow stack. */
public final class AppMethodBeat {
    private static int[] stack = new int[64];
    private static int depth;
    public static int entries;
    public static int wrong;

    public static void i(int id) {
        if (depth == stack.length) {
            stack = java.util.Arrays.copyOf(stack, depth * 2);
        }
        stack[depth++] = id;
        entries++;
    }

    public static void o(int id) {
        if (depth == 0 || stack[--depth] != id) {
            wrong++;
        }
    }

    public static void reset() {
        depth = entries = wrong = 0;
    }

    public static boolean balanced() {
        return depth == 0 && wrong == 0;
    }
}
