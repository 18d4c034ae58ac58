import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import app.Maze;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Properties;
import java.util.Random;

/**
 * Runs short messages on the real main looper, and then one that takes minutes. The Go test kills the process. What the
 * app did is in a diary, which the process writes without a buffer.
 */
public final class KillProofs {
    private static final class Diary implements Maze.Diary {
        private final FileOutputStream out;

        Diary(File file) throws IOException {
            out = new FileOutputStream(file);
        }

        void write(String line) {
            try {
                out.write((line + " " + System.nanoTime() + "\n").getBytes("US-ASCII"));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void before(String method) {
            write("+" + method);
        }

        @Override
        public void after(String method) {
            write("-" + method);
        }
    }

    private static class Walker extends Handler {
        private final Diary diary;
        private final Random random;

        Walker(Diary diary, Random random) {
            super(Looper.getMainLooper());
            this.diary = diary;
            this.random = random;
        }

        @Override
        public void handleMessage(Message m) {
            String name = getClass().getName();
            diary.write("+" + name);
            try {
                if (m.what == 0) {
                    new Maze(random, diary).walk(1 + random.nextInt(4), random.nextInt(30));
                } else {
                    System.out.println("hangs " + System.nanoTime());
                    System.out.flush();
                    new Maze(random, diary).walk(1 + random.nextInt(6), 600000);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            diary.write("-" + name);
        }
    }

    private static final class Red extends Walker {
        Red(Diary diary, Random random) {
            super(diary, random);
        }
    }

    private static final class Green extends Walker {
        Green(Diary diary, Random random) {
            super(diary, random);
        }
    }

    public void messagesAndOneThatHangs() throws Exception {
        File dir = new File(System.getProperty("java.io.tmpdir"), "proofs-kill");
        App app = new App(dir);
        Bench.check(app.files.mkdirs(), "no directory");
        Properties settings = new Properties();
        settings.setProperty("slow", "100");
        Random random = new Random(Long.getLong("proofs.seed"));
        Bench.check(TracegenRuntime.start(app, TracegenRuntime.options(app).apply(settings)), "not recording");
        Bench.settle();
        Diary diary = new Diary(new File(dir, "diary.txt"));
        Handler[] handlers = {new Red(diary, random), new Green(diary, random)};
        for (int k = random.nextInt(10); k > 0; k--) {
            handlers[random.nextInt(2)].sendEmptyMessage(0);
        }
        handlers[random.nextInt(2)].sendEmptyMessage(1);
        Thread.sleep(600000);
    }
}
