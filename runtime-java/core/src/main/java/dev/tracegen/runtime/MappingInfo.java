package dev.tracegen.runtime;

/**
 * Holds the digest of the method mapping that the classes of this program were instrumented with.
 *
 * <p>{@code tracegen instrument} overwrites the constant below with the digest. It is the result of a method and not
 * a constant field, because javac copies constant fields into the classes that use them. Those copies would keep the
 * old value.
 */
public final class MappingInfo {
    private MappingInfo() {
    }

    /**
     * Returns the digest of the method mapping. The recorder writes it into each recording, so that a recording is
     * never read with the mapping of another build.
     *
     * @return 16 lower-case hexadecimal digits; all are 0 if the build did not write a digest
     */
    public static String digest() {
        return "0000000000000000";
    }
}
