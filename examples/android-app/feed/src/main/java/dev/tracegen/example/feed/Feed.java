package dev.tracegen.example.feed;

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import okio.BufferedSource;
import okio.BufferedSink;
import okio.Okio;

/** Keeps notes in a file. */
public class Feed {
    private final Gson gson = new Gson();

    /** Returns the notes of the directory. The first call writes some. */
    public List<Note> load(File directory) {
        File file = new File(directory, "notes.json");
        try {
            if (!file.exists()) {
                save(file, first());
            }
            try (BufferedSource in = Okio.buffer(Okio.source(file))) {
                return gson.fromJson(in.readUtf8(), new TypeToken<List<Note>>() {}.getType());
            }
        } catch (IOException e) {
            return new ArrayList<>();
        }
    }

    void save(File file, List<Note> notes) throws IOException {
        try (BufferedSink out = Okio.buffer(Okio.sink(file))) {
            out.writeUtf8(gson.toJson(notes));
        }
    }

    private static List<Note> first() {
        List<Note> notes = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            notes.add(new Note("note " + i, i));
        }
        return notes;
    }
}
