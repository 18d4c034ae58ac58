package dev.tracegen.example.stars;

import android.app.Activity;
import android.os.Bundle;
import android.widget.TextView;
import com.google.gson.Gson;
import java.util.ArrayList;
import java.util.List;

/** Shows a list as JSON. */
public class StarsActivity extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        TextView text = new TextView(this);
        text.setText(new Gson().toJson(stars(5)));
        setContentView(text);
    }

    static List<String> stars(int most) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < most; i++) {
            lines.add(line.append('*').toString());
        }
        return lines;
    }
}
