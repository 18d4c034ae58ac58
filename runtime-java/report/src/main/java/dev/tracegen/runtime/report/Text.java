package dev.tracegen.runtime.report;

import java.io.UnsupportedEncodingException;
import java.security.SecureRandom;

/** Conversions of texts that do not depend on a locale or on the default character set. */
final class Text {
    private Text() {
    }

    static byte[] utf8(String text) {
        try {
            return text.getBytes("UTF-8");
        } catch (UnsupportedEncodingException e) {
            throw new AssertionError(e);
        }
    }

    static byte[] ascii(String text) {
        byte[] b = new byte[text.length()];
        for (int k = 0; k < b.length; k++) {
            char c = text.charAt(k);
            b[k] = (byte) (c < 0x80 ? c : '?');
        }
        return b;
    }

    static String utf8(byte[] bytes, int from, int to) {
        try {
            return new String(bytes, from, to - from, "UTF-8");
        } catch (UnsupportedEncodingException e) {
            throw new AssertionError(e);
        }
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
