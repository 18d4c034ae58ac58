package dev.tracegen.runtime.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads one JSON value, strictly: a text that ends early or has something behind the value is refused. Objects become
 * maps, arrays lists, numbers doubles.
 */
final class JsonReader {
    private static final int MAX_DEPTH = 16;

    private final String text;
    private int at;

    private JsonReader(String text) {
        this.text = text;
    }

    /**
     * Reads a text.
     *
     * @throws IllegalArgumentException if it is not exactly one value, or nested too deeply
     */
    static Object read(String text) {
        JsonReader r = new JsonReader(text);
        Object value = r.value(0);
        r.space();
        if (r.at != text.length()) {
            throw r.wrong();
        }
        return value;
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON: unexpected character or end at " + at);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char next() {
        if (at >= text.length()) {
            throw wrong();
        }
        return text.charAt(at++);
    }

    /** Skips a character if it is the next one behind white space. */
    private boolean skip(char c) {
        space();
        if (at < text.length() && text.charAt(at) == c) {
            at++;
            return true;
        }
        return false;
    }

    private void need(boolean ok) {
        if (!ok) {
            throw wrong();
        }
    }

    private Object value(int depth) {
        need(depth <= MAX_DEPTH);
        if (skip('{')) {
            Map<String, Object> all = new LinkedHashMap<String, Object>();
            for (boolean more = !skip('}'); more; more = !skip('}')) {
                need(all.isEmpty() || skip(','));
                need(skip('"'));
                String key = string();
                need(skip(':'));
                all.put(key, value(depth + 1));
            }
            return all;
        }
        if (skip('[')) {
            List<Object> all = new ArrayList<Object>();
            for (boolean more = !skip(']'); more; more = !skip(']')) {
                need(all.isEmpty() || skip(','));
                all.add(value(depth + 1));
            }
            return all;
        }
        if (skip('"')) {
            return string();
        }
        int begin = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(begin, at);
        if (word.equals("true") || word.equals("false")) {
            return Boolean.valueOf(word);
        }
        if (word.equals("null")) {
            return "";
        }
        need(word.matches("-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?"));
        return Double.valueOf(word);
    }

    private String string() {
        StringBuilder b = new StringBuilder();
        for (char c = next(); c != '"'; c = next()) {
            if (c != '\\') {
                b.append(c);
                continue;
            }
            c = next();
            int known = "\"\\/bfnrt".indexOf(c);
            if (known >= 0) {
                b.append("\"\\/\b\f\n\r\t".charAt(known));
            } else {
                need(c == 'u' && at + 4 <= text.length());
                String hex = text.substring(at, at + 4);
                need(hex.matches("[0-9a-fA-F]+"));
                b.append((char) Integer.parseInt(hex, 16));
                at += 4;
            }
        }
        return b.toString();
    }
}
