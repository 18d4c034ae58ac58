package dev.tracegen.runtime;

/**
 * Does nothing and needs nothing, not even java.lang.Object's initialiser: for running a JVM whose
 * own java.base is instrumented.
 */
public final class AppMethodBeat {
    private AppMethodBeat() {
    }

    /** A method was entered. */
    public static void i(int id) {
    }

    /** A method is about to be left. */
    public static void o(int id) {
    }
}
