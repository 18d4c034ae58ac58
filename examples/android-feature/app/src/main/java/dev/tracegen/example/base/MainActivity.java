package dev.tracegen.example.base;

import android.app.Activity;
import android.content.Intent;
import android.os.Bundle;
import android.widget.TextView;

/** Shows a greeting, and starts the feature. */
public class MainActivity extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        TextView text = new TextView(this);
        text.setText(greeting(3));
        text.setOnClickListener(view -> startActivity(new Intent()
                .setClassName(this, "dev.tracegen.example.stars.StarsActivity")));
        setContentView(text);
    }

    static String greeting(int times) {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < times; i++) {
            all.append("hello ");
        }
        return all.toString();
    }
}
