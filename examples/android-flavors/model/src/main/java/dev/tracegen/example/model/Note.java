package dev.tracegen.example.model;

/** A note of the feed. */
public final class Note {
    private final String text;

    public Note(String text) {
        this.text = text;
    }

    /** Returns how often a letter occurs. */
    public int count(char letter) {
        int found = 0;
        for (char c : text.toCharArray()) {
            found += c == letter ? 1 : 0;
        }
        return found;
    }

    @Override
    public String toString() {
        return text;
    }
}
