package dev.tracegen.example.feed;

import dev.tracegen.example.model.Note;
import java.util.ArrayList;
import java.util.List;
import javax.inject.Inject;

/** The notes that the app shows. */
public final class Feed {
    private final int size;

    @Inject
    public Feed(Integer size) {
        this.size = size;
    }

    public List<Note> notes() {
        List<Note> notes = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            notes.add(new Note("note " + i));
        }
        return notes;
    }
}
