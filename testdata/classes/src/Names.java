/** Identifiers and strings that modified UTF-8 writes in its own way. */
public class Names {
    static final String NUL = "a\0b";
    static final String EMOJI = "\uD83D\uDE00 grin";
    static final String LONE = "\uDE00\uD83D";
    static final String LATIN = "\u00e9\u07ff\u0800\uffff";

    int größe;
    String 名前;

    int \ud801\udc00deseret(int ж) {
        return größe + ж + EMOJI.length() + LONE.length() + NUL.length() + LATIN.length();
    }
}
