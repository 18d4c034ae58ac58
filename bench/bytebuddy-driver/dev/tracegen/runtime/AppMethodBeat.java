package dev.tracegen.runtime;

/** A stub of the runtime, so that the advice compiles. */
public final class AppMethodBeat {
    private AppMethodBeat() {}

    public static void i(int id) {}

    public static void o(int id) {}
}
