package android.util;

/** As Android has it. */
public interface Printer {
    void println(String text);
}
