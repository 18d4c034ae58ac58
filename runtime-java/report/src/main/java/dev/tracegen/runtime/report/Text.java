package dev.tracegen.runtime.report;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;

/** Conversions of texts that do not depend on a locale or on the default character set. */
final class Text {
    private Text() {
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    static String utf8(byte[] bytes, int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.UTF_8);
    }

    /** Returns 16 hexadecimal digits. */
    static String hex(long value) {
        String digits = Long.toHexString(value);
        return "0000000000000000".substring(digits.length()) + digits;
    }

    static String hex(byte[] bytes) {
        StringBuilder b = new StringBuilder();
        for (byte x : bytes) {
            b.append(Character.forDigit(x >> 4 & 15, 16)).append(Character.forDigit(x & 15, 16));
        }
        return b.toString();
    }

    /** Returns 16 random hexadecimal digits. Reads random bytes of the system. */
    static String random() {
        return hex(new SecureRandom().nextLong());
    }

    /** Returns a name of a file: all but letters, digits, points, and hyphens becomes underscores. */
    static String fileName(String name) {
        return name.replaceAll("[^A-Za-z0-9.-]", "_");
    }
}
