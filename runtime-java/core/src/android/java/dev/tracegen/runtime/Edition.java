package dev.tracegen.runtime;

/** What differs between the runtime of Android and that of a JVM, which has a class of this name too. */
final class Edition {
    /** Whether methods may be let go, see {@link LetGo}. The compiler leaves out what is for the other edition. */
    static final boolean LETS_GO = false;

    /** See the edition of a JVM. */
    static final byte[] LET_GO = {};

    private Edition() {
    }
}
