package text;

/** Text joins words. */
public final class Text {
    private Text() {}

    public static String join(String[] words, String between) {
        StringBuilder all = new StringBuilder();
        for (String word : words) {
            if (all.length() > 0) {
                all.append(between);
            }
            all.append(word);
        }
        return all.toString();
    }
}
