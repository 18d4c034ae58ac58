package dev.tracegen.runtime.report;

import java.util.Map;

/**
 * Writes JSON (RFC 8259) on one line, and counts the bytes that it has in UTF-8. What was written can be taken back to
 * an earlier mark, so that a caller can keep within a limit. Numbers do not depend on a locale.
 */
final class Json {
    private static final String HEX = "0123456789abcdef";

    private final StringBuilder out = new StringBuilder();
    private int bytes;

    /** Returns the number of bytes so far. */
    int bytes() {
        return bytes;
    }

    /** Returns a mark for {@link #back}. */
    long mark() {
        return (long) bytes << 32 | out.length();
    }

    /** Removes what was written since a mark. */
    void back(long mark) {
        out.setLength((int) mark);
        bytes = (int) (mark >>> 32);
    }

    /** Begins an object or array, as a value. */
    Json open(char bracket) {
        comma();
        return raw(bracket);
    }

    Json close(char bracket) {
        return raw(bracket);
    }

    /** Writes the key of a member. A value must follow. */
    Json key(String name) {
        comma();
        string(name);
        return raw(':');
    }

    /** Writes a text; null as the empty one. */
    Json value(String text) {
        comma();
        string(text == null ? "" : text);
        return this;
    }

    Json value(long number) {
        comma();
        return ascii(Long.toString(number));
    }

    Json value(boolean flag) {
        comma();
        return ascii(flag ? "true" : "false");
    }

    /** Writes a time as milliseconds with three digits behind the point. */
    Json millis(long nanos) {
        comma();
        long micros = nanos / 1000;
        long fraction = Math.abs(micros % 1000);
        String sign = micros < 0 && micros > -1000 ? "-" : "";
        return ascii(sign + micros / 1000 + (fraction == 0 ? "" : "." + (fraction < 100 ? "0" : "")
                + (fraction < 10 ? "0" : "") + fraction));
    }

    /** Writes a text, a boolean or a number. A number that JSON does not have becomes a text. */
    Json any(Object value) {
        if (value instanceof Boolean) {
            return value(((Boolean) value).booleanValue());
        }
        if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte) {
            return value(((Number) value).longValue());
        }
        if (value instanceof Double || value instanceof Float) {
            double d = ((Number) value).doubleValue();
            if (!Double.isNaN(d) && !Double.isInfinite(d)) {
                comma();
                // Double.toString is the same in all locales, and an exponent is valid in JSON.
                return ascii(Double.toString(d));
            }
        }
        return value(String.valueOf(value));
    }

    /** Writes a member whose value is a text, unless that is null. */
    Json text(String name, String text) {
        return text == null ? this : key(name).value(text);
    }

    /** Writes an object of texts, booleans and numbers. */
    Json members(Map<String, ?> all) {
        for (Map.Entry<String, ?> e : all.entrySet()) {
            if (e.getValue() != null) {
                key(e.getKey()).any(e.getValue());
            }
        }
        return this;
    }

    private void comma() {
        char last = out.length() == 0 ? '{' : out.charAt(out.length() - 1);
        if (last != '{' && last != '[' && last != ':') {
            raw(',');
        }
    }

    private Json raw(char c) {
        out.append(c);
        bytes++;
        return this;
    }

    private Json ascii(String text) {
        out.append(text);
        bytes += text.length();
        return this;
    }

    private void string(String text) {
        raw('"');
        for (int k = 0; k < text.length(); k++) {
            char c = text.charAt(k);
            if (c == '"' || c == '\\') {
                raw('\\').raw(c);
            } else if (c == 0) {
                // Databases end a text there, and the collector refuses it.
                out.append('\uFFFD');
                bytes += 3;
            } else if (c < 0x20) {
                ascii("\\u00").raw(HEX.charAt(c >> 4)).raw(HEX.charAt(c & 15));
            } else if (c < 0x80) {
                raw(c);
            } else if (Character.isHighSurrogate(c) && k + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(k + 1))) {
                out.append(c).append(text.charAt(++k));
                bytes += 4;
            } else {
                // Half of a pair is no character. UTF-8 has nothing for it.
                out.append(Character.isSurrogate(c) ? '\uFFFD' : c);
                bytes += c < 0x800 ? 2 : 3;
            }
        }
        raw('"');
    }

    @Override
    public String toString() {
        return out.toString();
    }
}
