package dev.tracegen.example.stars;

import android.app.Activity;
import android.os.Bundle;
import android.widget.TextView;
import com.google.gson.Gson;
import dev.tracegen.example.feed.Feed;
import dev.tracegen.example.model.Note;
import java.util.ArrayList;
import java.util.List;

/** Shows which notes have stars, as JSON. */
public class StarsActivity extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        TextView text = new TextView(this);
        text.setText(new Gson().toJson(stars(new Feed(5))));
        setContentView(text);
    }

    static List<Integer> stars(Feed feed) {
        List<Integer> stars = new ArrayList<>();
        for (Note note : feed.notes()) {
            stars.add(note.count('1'));
        }
        return stars;
    }
}
