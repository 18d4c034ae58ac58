import android.app.Activity;
import android.os.Handler;
import android.os.Looper;
import android.view.View;
import app.Posts;
import dev.tracegen.runtime.EachMessage;
import dev.tracegen.runtime.MessageRecord;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Messages name the method that posted them, by the probes of an instrumented app. */
public final class PostProofs implements StallListener {
    private final BlockingQueue<Stall> slow = new ArrayBlockingQueue<Stall>(100);
    private final Posts posts = new Posts();
    private final Map<Integer, String> names = new HashMap<Integer, String>();
    private Set<Long> seen = new HashSet<Long>();
    private App app;

    @Override
    public void stallEnded(Stall stall) {
        slow.add(stall);
    }

    private static final class Task implements Runnable {
        volatile boolean done;

        @Override
        public void run() {
            done = true;
        }
    }

    /** A slow message. On a machine with much load there may be others. */
    private static final class SlowTask implements Runnable {
        @Override
        public void run() {
            try {
                Thread.sleep(1000);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private Stall nextSlowTask() throws Exception {
        for (;;) {
            Stall stall = slow.poll(2, TimeUnit.MINUTES);
            Bench.check(stall != null, "no slow message was found");
            if (stall.description.contains("SlowTask")) {
                return stall;
            }
        }
    }

    /** Does a thing while messages are recorded. */
    private abstract class Recorded {
        Recorded() throws Exception {
            app = new App(new File(System.getProperty("java.io.tmpdir"), "proofs-" + System.nanoTime()));
            Bench.check(app.files.mkdirs(), "no directory");
            BufferedReader in = new BufferedReader(new FileReader(System.getProperty("proofs.mapping")));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (!line.startsWith("#")) {
                    String[] parts = line.split(",", 3);
                    names.put(Integer.valueOf(parts[0]), parts[2].split(" ")[1]);
                }
            }
            in.close();
            Recorder.setStallListener(PostProofs.this);
            Bench.check(TracegenRuntime.start(app, EachMessage.in(TracegenRuntime.options(app))), "not recording");
            Bench.settle();
            try {
                seen.clear();
                run();
            } finally {
                TracegenRuntime.stop();
                Recorder.setStallListener(null);
                Bench.ended();
            }
        }

        abstract void run() throws Exception;
    }

    /** Returns the posters of the messages that ran since the last call and have one. */
    private List<String> posters() throws Exception {
        Bench.drain();
        List<String> all = new ArrayList<String>();
        for (MessageRecord r : Recorder.current().thread(Looper.getMainLooper().getThread()).history()) {
            if (r.postedBy != 0 && seen.add(r.sequence)) {
                Bench.check(r.postedNanos == 0 || r.postedNanos <= r.beginNanos, "posted after its begin");
                all.add(names.get(r.postedBy));
            }
        }
        return all;
    }

    private void expect(Object... want) throws Exception {
        Bench.equal(posters(), Arrays.asList(want), "posters");
    }

    private static void done(final Task task) throws Exception {
        Bench.until("the task has run", new Bench.Condition() {
            @Override
            public boolean holds() {
                return task.done;
            }
        });
    }

    /** Waits until all messages that are due in 20 ms have run. */
    private static void later() throws Exception {
        Task last = new Task();
        Bench.main.postDelayed(last, 25);
        done(last);
    }

    public void everyWayToPostIsNamed() throws Exception {
        new Recorded() {
            @Override
            void run() throws Exception {
                Handler h = Bench.main;
                posts.post(h, new Task());
                expect("post");
                posts.postDelayed(h, new Task());
                later();
                expect("postDelayed");
                posts.postAtTime(h, new Task());
                later();
                expect("postAtTime");
                posts.postAtFront(h, new Task());
                expect("postAtFront");
                posts.sendMessage(h, 71);
                expect("sendMessage");
                posts.sendMessageDelayed(h, 72);
                later();
                expect("sendMessageDelayed");
                posts.sendMessageAtFront(h, 73);
                expect("sendMessageAtFront");
                posts.sendEmptyMessage(h, -74);
                expect("sendEmptyMessage");
                posts.sendEmptyMessageDelayed(h, 75);
                later();
                expect("sendEmptyMessageDelayed");
                posts.sendToTarget(h, 76);
                expect("sendToTarget");
                posts.sendCallback(h, new Task());
                expect("sendCallback");
            }
        };
    }

    public void viewsActivitiesAndExecutorsAreNamed() throws Exception {
        final View view = (View) allocate(View.class);
        Class<?> info = Class.forName("android.view.View$AttachInfo");
        Object attached = allocate(info);
        set(info, attached, "mHandler", Bench.main);
        set(View.class, view, "mAttachInfo", attached);
        final Activity activity = (Activity) allocate(Activity.class);
        set(Activity.class, activity, "mHandler", Bench.main);
        set(Activity.class, activity, "mUiThread", Looper.getMainLooper().getThread());
        final Executor executor = new Executor() { // as Context.getMainExecutor
            @Override
            public void execute(Runnable r) {
                Bench.main.post(r);
            }
        };
        new Recorded() {
            @Override
            void run() throws Exception {
                posts.viewPost(view, new Task());
                expect("viewPost");
                posts.viewPostDelayed(view, new Task());
                later();
                expect("viewPostDelayed");
                posts.runOnUiThread(activity, new Task());
                expect("runOnUiThread");
                posts.execute(executor, new Task());
                expect("execute");
                // On the main thread it runs at once, and no message is posted.
                final Task task = new Task();
                Bench.onMain(new Runnable() {
                    @Override
                    public void run() {
                        posts.runOnUiThread(activity, task);
                    }
                });
                Bench.check(task.done, "it has not run");
                Bench.main.post(task);
                expect();
            }
        };
    }

    public void equalPostsOfDifferentMethodsAreNotConfused() throws Exception {
        new Recorded() {
            @Override
            void run() throws Exception {
                final Handler h = Bench.main;
                final Task one = new Task();
                final Task two = new Task();
                Bench.onMain(new Runnable() { // so that all wait at the same time
                    @Override
                    public void run() {
                        posts.sendMessage(h, 81);
                        posts.sendEmptyMessage(h, 82);
                        posts.post(h, one);
                        posts.sendCallback(h, two);
                    }
                });
                expect("sendMessage", "sendEmptyMessage", "post", "sendCallback");
                Bench.onMain(new Runnable() {
                    @Override
                    public void run() {
                        posts.sendMessage(h, 83);
                        posts.sendEmptyMessage(h, 83);
                        posts.post(h, one);
                        posts.postDelayed(h, one);
                        posts.post(h, two);
                    }
                });
                later();
                expect("post"); // that of two
                h.post(one); // without a probe
                h.sendEmptyMessage(83);
                expect();
                posts.post(h, one);
                posts.sendEmptyMessage(h, 83);
                expect("post", "sendEmptyMessage");
            }
        };
    }

    public void aSlowMessageIsNamed() throws Exception {
        new Recorded() {
            @Override
            void run() throws Exception {
                long before = System.nanoTime();
                posts.postDelayed(Bench.main, new SlowTask());
                Stall stall = nextSlowTask();
                Bench.equal(names.get(stall.postedBy), "postDelayed", "poster");
                Bench.check(stall.postedNanos >= before && stall.postedNanos <= stall.beginNanos, "time");
                Bench.main.post(new SlowTask());
                stall = nextSlowTask();
                Bench.equal(stall.postedBy, 0, "poster of a post without a probe");
            }
        };
    }

    private static Object allocate(Class<?> type) throws Exception {
        return unsafe().allocateInstance(type);
    }

    private static sun.misc.Unsafe unsafe() throws Exception {
        Field f = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        f.setAccessible(true);
        return (sun.misc.Unsafe) f.get(null);
    }

    private static void set(Class<?> type, Object object, String name, Object value) throws Exception {
        unsafe().putObject(object, unsafe().objectFieldOffset(type.getDeclaredField(name)), value);
    }
}
