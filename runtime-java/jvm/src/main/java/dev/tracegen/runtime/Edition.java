package dev.tracegen.runtime;

/** What differs between the runtime of a JVM and that of Android, which has a class of this name too. */
final class Edition {
    /** Whether methods may be let go, see {@link LetGo}. The compiler leaves out what is for the other edition. */
    static final boolean LETS_GO = true;

    /**
     * For each ID 0, or how a method is let go: {@link LetGo#SEEN} or {@link LetGo#UNSEEN}. The field is final and has
     * an array of fixed length, so that the JIT makes one comparison of {@link AppMethodBeat#i}, with an address that
     * it knows.
     */
    static final byte[] LET_GO = new byte[AppMethodBeat.ID_MASK + 1];

    private Edition() {
    }
}
