package dev.tracegen.devicecheck;

import android.app.Activity;
import android.os.Bundle;
import android.os.Debug;
import android.os.Handler;
import android.os.Looper;
import android.util.Log;
import android.view.View;
import android.view.ViewGroup;
import android.view.WindowManager;
import android.widget.BaseAdapter;
import android.widget.ListView;
import android.widget.TextView;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.List;

/** A list of notes, which does what the extra {@code do} says, and then writes a file. */
public class MainActivity extends Activity {
    private static final int SCROLL_MILLIS = 5000;

    private final Handler handler = new Handler(Looper.getMainLooper());

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        ListView list = new ListView(this);
        list.setAdapter(new Rows(Notes.load(1500)));
        setContentView(list);
        getWindow().addFlags(WindowManager.LayoutParams.FLAG_KEEP_SCREEN_ON);
        String what = getIntent().getStringExtra("do");
        if ("ready".equals(what)) {
            handler.post(() -> write("ready.txt", ""));
        } else if ("scroll".equals(what)) {
            handler.postDelayed(() -> scroll(list, System.nanoTime()), 1000);
        } else if ("stall".equals(what)) {
            handler.postDelayed(() -> Planted.stall(450), 1500);
            handler.postDelayed(() -> write("stall.txt", ""), 3000);
        } else if ("cost".equals(what)) {
            CostRun run = new CostRun(Debug::threadCpuTimeNanos);
            handler.postDelayed(() -> measure(run, true), 500);
        }
    }

    private void scroll(ListView list, long start) {
        if (System.nanoTime() - start < SCROLL_MILLIS * 1000000L) {
            list.scrollListBy(24);
            list.postOnAnimation(() -> scroll(list, start));
        } else {
            write("scroll.txt", "");
        }
    }

    private void measure(CostRun run, boolean recording) {
        int pause = run.step();
        if (pause >= 0) {
            handler.postDelayed(() -> measure(run, recording), pause);
        } else if (recording) {
            TracegenRuntime.stop();
            run.again("stopped");
            handler.postDelayed(() -> measure(run, false), 500);
        } else {
            write("cost.txt", run.lines());
        }
    }

    /** Writes a file for the script, whose last line says that it is complete. */
    private void write(String name, String lines) {
        try (FileOutputStream out = new FileOutputStream(new File(getExternalFilesDir(null), name))) {
            out.write((lines + "end\n").getBytes("UTF-8"));
        } catch (IOException | RuntimeException e) {
            Log.e("device-check", name + " cannot be written", e);
        }
    }

    private final class Rows extends BaseAdapter {
        private final List<String> notes;

        Rows(List<String> notes) {
            this.notes = notes;
        }

        @Override
        public int getCount() {
            return notes.size();
        }

        @Override
        public String getItem(int position) {
            return notes.get(position);
        }

        @Override
        public long getItemId(int position) {
            return position;
        }

        @Override
        public View getView(int position, View old, ViewGroup parent) {
            TextView row = old == null ? new TextView(MainActivity.this) : (TextView) old;
            row.setPadding(24, 24, 24, 24);
            row.setText(Notes.title(Notes.line(position)) + "\n" + getItem(position));
            return row;
        }
    }
}
