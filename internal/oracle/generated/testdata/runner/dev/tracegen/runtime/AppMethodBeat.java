package dev.tracegen.runtime;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Compares exits with a shadow stack of each thread. Threads run one after the other: see Host.thread. */
public final class AppMethodBeat {
    private static final class Stack {
        int[] ids = new int[64];
        int depth;
    }

    private static final List<Stack> all = new ArrayList<>();
    private static ThreadLocal<Stack> current = new ThreadLocal<>();
    public static int entries;
    public static int wrong;

    public static void i(int id) {
        Stack s = stack();
        if (s.depth == s.ids.length) {
            s.ids = Arrays.copyOf(s.ids, s.depth * 2);
        }
        s.ids[s.depth++] = id;
        entries++;
    }

    public static void o(int id) {
        Stack s = stack();
        if (s.depth == 0 || s.ids[--s.depth] != id) {
            wrong++;
        }
    }

    private static Stack stack() {
        Stack s = current.get();
        if (s == null) {
            s = new Stack();
            all.add(s);
            current.set(s);
        }
        return s;
    }

    public static void reset() {
        all.clear();
        current = new ThreadLocal<>();
        entries = wrong = 0;
    }

    public static boolean balanced() {
        for (Stack s : all) {
            if (s.depth != 0) {
                return false;
            }
        }
        return wrong == 0;
    }
}
