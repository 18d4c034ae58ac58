package dev.tracegen.runtime.report;

import java.io.ByteArrayOutputStream;

/** Decodes base64 (RFC 4648, section 4). Java's own decoder came with Android 8. */
final class Base64 {
    private static final String DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    private Base64() {
    }

    /**
     * Decodes a text. White space is ignored.
     *
     * @return null if the text has other characters
     */
    static byte[] decode(String text) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int bits = 0;
        int n = 0;
        boolean padded = false;
        for (int k = 0; k < text.length(); k++) {
            char c = text.charAt(k);
            int digit = DIGITS.indexOf(c);
            if (c == '=') {
                padded = true;
            } else if (digit < 0 || padded) {
                if (c > ' ') {
                    return null;
                }
            } else {
                bits = bits << 6 | digit;
                n += 6;
                if (n >= 8) {
                    n -= 8;
                    out.write(bits >>> n);
                }
            }
        }
        return out.toByteArray();
    }
}
