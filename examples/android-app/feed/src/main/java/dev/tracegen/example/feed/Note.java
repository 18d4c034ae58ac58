package dev.tracegen.example.feed;

/** One note. Gson reads and writes its fields. */
public final class Note {
    public String title;
    public int stars;

    public Note() {}

    public Note(String title, int stars) {
        this.title = title;
        this.stars = stars;
    }
}
