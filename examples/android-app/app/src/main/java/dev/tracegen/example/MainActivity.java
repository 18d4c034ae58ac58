package dev.tracegen.example;

import android.app.Activity;
import android.os.Bundle;
import android.widget.TextView;
import dev.tracegen.example.feed.Feed;
import dev.tracegen.example.feed.Note;
import java.util.List;

/** Shows the titles of the notes. */
public class MainActivity extends Activity {
    private final Feed feed = new Feed();

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        TextView text = new TextView(this);
        text.setText(titles(feed.load(getCacheDir())));
        setContentView(text);
    }

    static String titles(List<Note> notes) {
        StringBuilder all = new StringBuilder();
        notes.forEach(n -> all.append(n.title).append(" (").append(n.stars).append(")\n"));
        return all.toString();
    }
}
