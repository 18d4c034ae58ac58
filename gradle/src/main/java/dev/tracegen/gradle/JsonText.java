package dev.tracegen.gradle;

/** The little JSON that the plugin reads and writes. */
final class JsonText {
    private JsonText() {}

    /** Returns the text of a field of an object on one line whose values are texts, or null if there is none. */
    static String field(String object, String name) {
        String start = "\"" + name + "\":\"";
        int at = object.startsWith("{") ? object.indexOf(start) : -1;
        if (at < 0) {
            return null;
        }
        StringBuilder text = new StringBuilder();
        for (int i = at + start.length(); i < object.length(); i++) {
            char c = object.charAt(i);
            if (c == '"') {
                return text.toString();
            }
            if (c != '\\' || i + 1 == object.length()) {
                text.append(c);
                continue;
            }
            c = object.charAt(++i);
            switch (c) {
                case 'n': text.append('\n'); break;
                case 't': text.append('\t'); break;
                case 'r': text.append('\r'); break;
                case 'b': text.append('\b'); break;
                case 'f': text.append('\f'); break;
                case 'u':
                    if (i + 4 >= object.length()) {
                        return null;
                    }
                    text.append((char) Integer.parseInt(object.substring(i + 1, i + 5), 16));
                    i += 4;
                    break;
                default: text.append(c); break;
            }
        }
        return null;
    }

    /** Returns the text as it stands between quotes in what tracegen writes. */
    static String escape(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c == '&' || c == '<' || c == '>' || c < ' ') {
                // Go's encoder writes these so.
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.toString();
    }
}
