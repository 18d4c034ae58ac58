package dev.tracegen.runtime;

/**
 * Shortens the texts of messages. A Looper prints
 * {@code >>>>> Dispatching to Handler (CLASS) {HASH} CALLBACK: WHAT}. The handler and the callback print themselves by
 * {@code toString}, which the app may have replaced by anything.
 */
final class MessageText {
    private static final String BEGIN = ">>>>> Dispatching to ";
    private static final String HANDLER = "Handler (";
    private static final String IDLE_HANDLER = "IdleHandler ";
    private static final String METHOD = "method ";

    /** Stands for a class that the text does not show for certain. */
    private static final String UNKNOWN = "?";

    /** Stands for a text of another form. */
    static final String OTHER = "(text not recorded)";

    private MessageText() {
    }

    /**
     * Returns the class of the handler, the class of the callback, and {@code what}, in the form of the Looper's text.
     * Nothing else of the text remains. A class that is not certain is {@code ?}: the text may hold personal data, so a
     * missing name is better than a wrong one.
     */
    static String classes(String text) {
        if (text.startsWith(METHOD) && isNumber(text.substring(METHOD.length()))
                || text.startsWith(IDLE_HANDLER) && isClass(text.substring(IDLE_HANDLER.length()))) {
            return text;
        }
        int colon = text.lastIndexOf(": ");
        if (!text.startsWith(BEGIN) || colon < BEGIN.length() || !isNumber(text.substring(colon + 2))) {
            return OTHER;
        }
        String what = text.substring(colon);
        String t = text.substring(BEGIN.length(), colon);
        int end = t.indexOf(')') + 1;
        if (t.startsWith(HANDLER) && end > 0) {
            String handler = t.substring(HANDLER.length(), end - 1);
            return HANDLER + (isClass(handler) ? handler : UNKNOWN) + ")" + callback(t.substring(end)) + what;
        }
        int blank = t.indexOf(' ');
        String handler = blank < 0 ? t : t.substring(0, blank);
        return HANDLER + classOf(handler) + ")" + callback(blank < 0 ? "" : t.substring(blank)) + what;
    }

    /** Returns the class of a callback with a blank before it, nothing for no text. */
    private static String callback(String text) {
        String t = text.trim();
        if (t.startsWith("{") && hex(t, 1) < t.length() && t.charAt(hex(t, 1)) == '}') {
            t = t.substring(hex(t, 1) + 1).trim();
        }
        if (t.length() == 0) {
            return "";
        }
        return " " + (t.equals("null") ? t : classOf(t));
    }

    /** Returns the class that printed a text: {@code NAME@HASH} as Object does, or what begins with a class's name. */
    private static String classOf(String text) {
        int end = 0;
        while (end < text.length() && isClassCharacter(text.charAt(end))) {
            end++;
        }
        String name = text.substring(0, end);
        if (!isClass(name)) {
            return UNKNOWN;
        }
        if (end == text.length()) {
            return name.indexOf('.') > 0 && looksLikeClass(name) ? name : UNKNOWN;
        }
        char next = text.charAt(end);
        boolean hash = next == '@' && end + 1 < text.length() && hex(text, end + 1) == text.length();
        return hash || "@{[(".indexOf(next) >= 0 && looksLikeClass(name) ? name : UNKNOWN;
    }

    private static boolean isNumber(String text) {
        int digits = text.startsWith("-") ? 1 : 0;
        for (int k = digits; k < text.length(); k++) {
            if (text.charAt(k) < '0' || text.charAt(k) > '9') {
                return false;
            }
        }
        return digits < text.length();
    }

    /** Reports whether a character may be in the name of a class. D8 uses -, and the JVM uses / for lambdas. */
    private static boolean isClassCharacter(char c) {
        return Character.isJavaIdentifierPart(c) || c == '.' || c == '-' || c == '/';
    }

    private static boolean isClass(String text) {
        for (int k = 0; k < text.length(); k++) {
            if (!isClassCharacter(text.charAt(k))) {
                return false;
            }
        }
        return text.length() > 0 && !Character.isDigit(text.charAt(0)) && text.charAt(0) != '.'
                && !text.endsWith(".");
    }

    /** Reports whether a name is written as classes are: its last part begins with a capital letter, or it has a $. */
    private static boolean looksLikeClass(String name) {
        String last = name.substring(name.lastIndexOf('.') + 1);
        return last.length() > 0 && (Character.isUpperCase(last.charAt(0)) || name.indexOf('$') >= 0);
    }

    private static int hex(String text, int k) {
        while (k < text.length() && Character.digit(text.charAt(k), 16) >= 0) {
            k++;
        }
        return k;
    }
}
