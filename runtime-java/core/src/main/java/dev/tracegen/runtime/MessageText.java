package dev.tracegen.runtime;

/** Shortens the texts that a Looper prints. */
final class MessageText {
    private static final String BEGIN = ">>>>> Dispatching to ";

    private MessageText() {
    }

    /**
     * Removes hash codes from a text, {@code {1a2b}} and {@code @1a2b}, so that two messages of one kind have the
     * same text.
     */
    static String withoutAddresses(String text) {
        StringBuilder b = new StringBuilder(text.length());
        int k = text.startsWith(BEGIN) ? BEGIN.length() : 0;
        while (k < text.length()) {
            char c = text.charAt(k);
            int end = c == '{' || c == '@' ? hex(text, k + 1) : k + 1;
            if (c == '{' && end > k + 1 && end < text.length() && text.charAt(end) == '}') {
                k = end + 1;
                if (b.length() > 0 && b.charAt(b.length() - 1) == ' ' && k < text.length() && text.charAt(k) == ' ') {
                    k++;
                }
            } else if (c == '@' && end > k + 1
                    && (end == text.length() || !Character.isLetterOrDigit(text.charAt(end)))) {
                k = end;
            } else {
                b.append(c);
                k++;
            }
        }
        return b.toString();
    }

    private static int hex(String text, int k) {
        while (k < text.length() && Character.digit(text.charAt(k), 16) >= 0) {
            k++;
        }
        return k;
    }
}
