import android.os.Looper;
import dev.tracegen.device.Device;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.CallItem;
import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import dev.tracegen.runtime.Stall;
import dev.tracegen.runtime.StallListener;
import dev.tracegen.runtime.android.TracegenRuntime;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** What a phone does to an app: a full heap, endless collections, threads that die, classes that are unloaded. */
public final class HardshipProofs implements StallListener {
    private final LinkedBlockingQueue<Stall> slow = new LinkedBlockingQueue<Stall>();
    private final App app = new App(StartProofs.directory());

    @Override
    public void stallEnded(Stall stall) {
        slow.add(stall);
    }

    private void start() throws Exception {
        start(new RecorderOptions().set("slow", "100").set("output", "recordings/hardship.tgd")
                .threads(RecorderOptions.THREADS_ALL));
    }

    private void start(RecorderOptions options) throws Exception {
        Recorder.setStallListener(this);
        Bench.equal(options.problems(), new ArrayList<String>(), "problems of the options");
        Bench.check(TracegenRuntime.start(app, options), "not recording");
        Bench.settle();
    }

    private static void stop() throws Exception {
        TracegenRuntime.stop();
        Recorder.setStallListener(null);
        Bench.ended();
    }

    /** Runs slow messages with calls of these IDs, each in the one before, until one is reported with these calls. */
    private void finds(String what, final int... ids) throws Exception {
        // A stall of before may be reported late.
        final long begin = System.nanoTime();
        Bench.stallUntil(what, new Runnable() {
            @Override
            public void run() {
                for (int id : ids) {
                    AppMethodBeat.i(id);
                }
                try {
                    Thread.sleep(150);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                for (int k = ids.length - 1; k >= 0; k--) {
                    AppMethodBeat.o(ids[k]);
                }
            }
        }, new Bench.Condition() {
            @Override
            public boolean holds() {
                while (!slow.isEmpty() && slow.peek().beginNanos < begin) {
                    slow.poll();
                }
                return !slow.isEmpty();
            }
        });
        List<Integer> want = new ArrayList<Integer>();
        for (int id : ids) {
            want.add(id);
        }
        List<Integer> got = new ArrayList<Integer>();
        Stall stall = slow.poll();
        for (CallItem item : stall.tree.longest(Integer.MAX_VALUE)) {
            if (item.id < AppMethodBeat.METHOD_ID_DISPATCH) {
                Bench.equal(item.depth, want.indexOf(item.id) + 1, "depth of " + item.id);
                got.add(item.id);
            }
        }
        Bench.equal(got, want, what + ": calls");
        Bench.equal(stall.tree.repairs(), 0, what + ": repairs");
    }

    public void allIDsAreRecorded() throws Exception {
        start();
        try {
            finds("a stall", 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 131072,
                    AppMethodBeat.METHOD_ID_DISPATCH - 1);
        } finally {
            stop();
        }
    }

    public void collectionsWithoutAPauseLoseNoCall() throws Exception {
        start();
        final boolean[] end = new boolean[1];
        final int[] collections = new int[1];
        Thread storm = new Thread("storm") {
            @Override
            public void run() {
                List<byte[]> some = new ArrayList<byte[]>();
                while (!end[0]) {
                    some.add(new byte[1 << 16]);
                    if (some.size() == 64) {
                        some.clear();
                        Runtime.getRuntime().gc();
                        collections[0]++;
                    }
                }
            }
        };
        storm.start();
        try {
            for (int k = 0; k < 5; k++) {
                finds("a stall in a storm of collections", 3, 4, 5);
            }
            Bench.measured(collections[0] + " collections while five stalls were found");
        } finally {
            end[0] = true;
            storm.join();
            stop();
        }
    }

    public void afterTheHeapWasFullItRecords() throws Exception {
        start();
        try {
            final boolean[] full = new boolean[1];
            final CountDownLatch ended = new CountDownLatch(1);
            Bench.main.post(new Runnable() {
                @Override
                public void run() {
                    // Nothing here allocates; what the runtime cannot allocate must not come out of its calls.
                    while (!full[0]) {
                        pairs();
                        Thread.yield();
                    }
                    pairs();
                    ended.countDown();
                }
            });
            fill(full, ended);
            Bench.await(ended);
            finds("a stall after an OutOfMemoryError", 206, 207);
        } finally {
            stop();
        }
    }

    private static void pairs() {
        for (int n = 1; n < 100; n++) {
            AppMethodBeat.i(n);
            AppMethodBeat.o(n);
        }
    }

    /** Fills the heap until nothing is left, and gives it back when the main thread has done its work. */
    private static void fill(boolean[] full, CountDownLatch ended) throws Exception {
        List<Object> all = new ArrayList<Object>(1 << 20);
        // Few sizes: ART collects several times before each error.
        for (int size : new int[] {1 << 22, 1 << 14, 1 << 10, 16}) {
            try {
                while (all.size() < 1 << 20) {
                    all.add(new byte[size]);
                }
            } catch (OutOfMemoryError e) {
                // The next size.
            }
        }
        full[0] = true;
        while (ended.getCount() > 0) {
            Thread.yield();
        }
    }

    public void threadsThatDieInACallAreForgotten() throws Exception {
        start();
        try {
            List<WeakReference<Thread>> all = new ArrayList<WeakReference<Thread>>();
            for (int k = 0; k < 50; k++) {
                all.add(dead());
            }
            finds("a stall after the deaths of threads", 8, 9);
            for (WeakReference<Thread> t : all) {
                Bench.check(Bench.collected(t), "a dead thread is still there");
            }
        } finally {
            stop();
        }
    }

    private static WeakReference<Thread> dead() throws Exception {
        Thread t = new Thread("dies") {
            @Override
            public void run() {
                AppMethodBeat.i(2);
                AppMethodBeat.i(3);
                throw new IllegalStateException("as planned");
            }
        };
        t.setUncaughtExceptionHandler(new Thread.UncaughtExceptionHandler() {
            @Override
            public void uncaughtException(Thread thread, Throwable e) {
                AppMethodBeat.i(4);
            }
        });
        t.start();
        t.join();
        return new WeakReference<Thread>(t);
    }

    public void aClassLoaderIsCollected() throws Exception {
        start();
        try {
            for (int k = 0; k < 3; k++) {
                WeakReference<ClassLoader> loader = walk();
                Bench.check(Bench.collected(loader), "the class loader of an app's class is still there");
                finds("a stall after classes were unloaded", 10, 11);
            }
        } finally {
            stop();
        }
    }

    /** Runs instrumented code of classes that have a loader of their own. */
    private static WeakReference<ClassLoader> walk() throws Exception {
        final ClassLoader loader = TheftProofs.loader("app.", app.Maze.class);
        Bench.onMain(new Runnable() {
            @Override
            public void run() {
                try {
                    Class<?> diary = loader.loadClass("app.Maze$Diary");
                    Object silent = java.lang.reflect.Proxy.newProxyInstance(loader, new Class<?>[] {diary},
                            new java.lang.reflect.InvocationHandler() {
                                @Override
                                public Object invoke(Object self, Method method, Object[] args) {
                                    return null;
                                }
                            });
                    Class<?> maze = loader.loadClass("app.Maze");
                    Bench.check(maze != app.Maze.class, "the class of the bench");
                    maze.getMethod("walk", int.class, long.class).invoke(
                            maze.getConstructor(Random.class, diary).newInstance(new Random(1), silent), 5, 1L);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        return new WeakReference<ClassLoader>(loader);
    }

    /** Nothing is expected: what a stack sample costs, and for how long the sampled thread stands still. */
    public void whatASampleCosts() throws Exception {
        for (final int frames : new int[] {10, 50, 200, 1000}) {
            final boolean[] end = new boolean[1];
            final CountDownLatch deep = new CountDownLatch(1);
            final long[] gaps = new long[1 << 16];
            final int[] count = new int[1];
            Thread sampled = new Thread("sampled") {
                @Override
                public void run() {
                    call(frames - 2);
                }

                private void call(int rest) {
                    if (rest > 0) {
                        call(rest - 1);
                        return;
                    }
                    deep.countDown();
                    long last = System.nanoTime();
                    while (!end[0]) {
                        long now = System.nanoTime();
                        if (now - last > 20000 && count[0] < gaps.length) {
                            gaps[count[0]++] = now - last;
                        }
                        last = now;
                    }
                }
            };
            sampled.start();
            Bench.await(deep);
            int samples = 100;
            long[] took = new long[samples];
            int first = count[0];
            for (int k = 0; k < samples; k++) {
                long begin = System.nanoTime();
                int got = sampled.getStackTrace().length;
                took[k] = System.nanoTime() - begin;
                Bench.check(got >= frames - 1, "a stack of " + got + " frames");
                Thread.sleep(2);
            }
            end[0] = true;
            sampled.join();
            Arrays.sort(took);
            long[] stops = Arrays.copyOfRange(gaps, first, count[0]);
            Arrays.sort(stops);
            Bench.measured("Thread.getStackTrace of " + frames + " frames: median " + took[samples / 2] / 1000
                    + " us, 90 % " + took[samples * 9 / 10] / 1000 + " us; the thread stood still " + stops.length
                    + " times for more than 20 us" + (stops.length == 0 ? "" : ", median "
                    + stops[stops.length / 2] / 1000 + " us, longest " + stops[stops.length - 1] / 1000 + " us"));
        }
    }

    /** On ART, what is there on JVMs only must not be tried: each try makes an error with a stack. */
    public void nothingIsMissed() throws Exception {
        if (!Device.ART) {
            return;
        }
        start(new RecorderOptions().set("slow", "100").set("output", "recordings/missed.tgd")
                .set("detectors", "sync-barrier, watchdog, anr, startup")
                .threads(RecorderOptions.THREADS_ALL));
        try {
            finds("a stall", 12, 13);
            // Without garbage. From now on a collection cannot hide an error: the heap is far larger.
            Runtime.getRuntime().gc();
            int errors = living(LinkageError.class);
            int lookups = living(ReflectiveOperationException.class);
            for (int k = 0; k < 10; k++) {
                finds("a stall", 12, 13);
                Bench.check(living(LinkageError.class) <= errors, "errors of linking: one more than " + errors);
                Bench.check(living(ReflectiveOperationException.class) <= lookups, "lookups that failed: one more than "
                        + lookups);
            }
        } finally {
            stop();
        }
    }

    /** How many objects of a class and its subclasses the heap has, garbage among them. */
    private static int living(Class<?> type) throws Exception {
        return ((Long) Class.forName("dalvik.system.VMDebug")
                .getMethod("countInstancesOfClass", Class.class, boolean.class).invoke(null, type, true)).intValue();
    }
}
