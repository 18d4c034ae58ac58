package dev.tracegen.runtime;

/**
 * Tells which method mapping the classes of this program were instrumented with.
 *
 * <p>{@code tracegen instrument} overwrites the constant below with the mapping's digest. It is a
 * method and not a constant field because javac copies constant fields into the classes that use
 * them, where they would keep the unstamped value.
 */
public final class MappingInfo {
    private MappingInfo() {
    }

    /**
     * The digest of the method mapping, which a recording carries so that it is never read with
     * another build's mapping.
     *
     * @return 16 lower-case hexadecimal digits, all zeros when nothing was stamped
     */
    public static String digest() {
        return "0000000000000000";
    }
}
