package dev.tracegen.example.flavors;

import android.app.Activity;
import android.content.Intent;
import android.os.Bundle;
import android.widget.TextView;
import dev.tracegen.example.model.Note;

/** Shows the feed, and starts the feature. */
public class MainActivity extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        TextView text = new TextView(this);
        StringBuilder all = new StringBuilder();
        for (Note note : DaggerGraph.create().feed().notes()) {
            all.append(note).append('\n');
        }
        text.setText(all);
        text.setOnClickListener(view -> startActivity(new Intent()
                .setClassName(this, "dev.tracegen.example.stars.StarsActivity")));
        setContentView(text);
    }
}
