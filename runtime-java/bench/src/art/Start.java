package art;

import android.app.Application;
import android.content.Context;
import android.content.res.AssetManager;
import android.os.Debug;
import android.os.Handler;
import android.os.Looper;
import android.os.Process;
import com.google.common.base.Joiner;
import com.google.common.base.Splitter;
import com.google.common.cache.CacheBuilder;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedMap;
import com.google.common.collect.Multimaps;
import com.google.common.collect.TreeMultimap;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.reflect.TypeToken;
import dalvik.system.DexFile;
import dalvik.system.VMDebug;
import dev.tracegen.runtime.AppMethodBeat;
import dev.tracegen.runtime.android.TracegenRuntime;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Observable;
import io.reactivex.rxjava3.schedulers.Schedulers;
import java.io.File;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Measures on ART what the start of a recording adds to the first 500 ms of a process. Arguments:
 *
 * <ul>
 * <li>{@code none} or {@code recorder};
 * <li>{@code time}; {@code loaded} for times with all classes of the runtime loaded before; or {@code bytes}, which are
 *     counted in a process of their own, because counting takes time;
 * <li>a folder for the recording.
 * </ul>
 *
 * <p>The main thread makes the first traced call and starts the recorder as an app does, does the work of a sample
 * start, and then waits for messages. The sample has no traced calls: what those cost is another matter. Prints lines
 * "row, tab, value": CPU times in microseconds, classes and bytes. Rows with "main" are of that thread until the start
 * returned, those with "process" of all threads in 500 ms.
 */
public final class Start {
    /** Bytes of the calling thread, and of the process: constants of VMDebug. */
    private static final int THREAD_BYTES = 1 << 17;
    private static final int PROCESS_BYTES = 1 << 1;

    /** The classes of the boot class path that are initialized before an app starts. */
    private static final String PRELOADED =
            "android\\.(app|content|os|text|util|view)\\..*|java\\.(io|lang|net|security|util).*";

    private static int sum;

    private Start() {
    }

    /** The parts of an app's context that the runtime uses. */
    static final class App extends Application {
        private final File folder;

        App(File folder) {
            this.folder = folder;
        }

        @Override
        public Context getApplicationContext() {
            return this;
        }

        @Override
        public String getPackageName() {
            return "art.start";
        }

        @Override
        public File getFilesDir() {
            return folder;
        }

        @Override
        public File getNoBackupFilesDir() {
            return folder;
        }

        @Override
        public Object getSystemService(String name) {
            return null;
        }

        /** There is no file of options. */
        @Override
        public AssetManager getAssets() {
            return null;
        }
    }

    /** What the sample reads. */
    static final class Item {
        int id;
        String name;
        List<String> tags = new ArrayList<String>();
        Map<String, Double> prices;
        Item next;
    }

    /** What an app may do at its start: settings from JSON, a few collections, a cache, and a chain of events. */
    private static int sample() {
        StringBuilder json = new StringBuilder("[");
        for (int k = 0; k < 200; k++) {
            json.append(k == 0 ? "" : ",").append("{'id':").append(k).append(",'name':'item ").append(k)
                    .append("','tags':['a','b','c'],'prices':{'eur':1.5,'usd':2},'next':{'id':").append(-k)
                    .append("}}");
        }
        Gson gson = new GsonBuilder().setPrettyPrinting().create();
        List<Item> items = gson.fromJson(json.append(']').toString(), new TypeToken<List<Item>>() { }.getType());
        int n = gson.toJson(items).length();
        TreeMultimap<String, Integer> byTag = TreeMultimap.create();
        ImmutableMap.Builder<String, Item> byName = ImmutableMap.builder();
        for (Item item : items) {
            byName.put(item.name, item);
            for (String tag : item.tags) {
                byTag.put(tag, item.id);
            }
        }
        Map<String, Item> cache = CacheBuilder.newBuilder().maximumSize(50).expireAfterWrite(1, TimeUnit.HOURS)
                .<String, Item>build().asMap();
        cache.putAll(byName.buildOrThrow());
        n += ImmutableSortedMap.copyOf(cache).size() + Multimaps.unmodifiableMultimap(byTag).size();
        n += Splitter.on(',').trimResults().splitToList(Joiner.on(" , ").join(byTag.get("a"))).size();
        Flowable<Integer> numbers = Flowable.fromIterable(items).map(item -> item.id).filter(id -> id % 3 != 0)
                .subscribeOn(Schedulers.computation()).observeOn(Schedulers.io());
        n += Flowable.zip(numbers, numbers.skip(5), Integer::sum).buffer(7).flatMapIterable(list -> list)
                .reduce(0, Integer::sum).blockingGet();
        n += Observable.merge(Observable.range(0, 100), Observable.range(5, 90)).distinct().scan(Integer::sum)
                .groupBy(k -> k % 5).concatMapSingle(g -> g.toList()).blockingLast().size();
        return n;
    }

    /** The unit: a million rounds. */
    private static void loop() {
        int x = 1;
        for (int k = 0; k < 1000000; k++) {
            x = x * 31 + (k ^ x >>> 3);
        }
        sum += x;
    }

    /** Loads classes of jars by the beginning of their names, and initializes those whose names match a pattern. */
    private static void load(String jars, String prefix, String initialized) throws Exception {
        for (String jar : jars.split(":")) {
            for (Enumeration<String> names = new DexFile(jar).entries(); names.hasMoreElements();) {
                String name = names.nextElement();
                try {
                    if (name.startsWith(prefix)) {
                        Class.forName(name, name.matches(initialized), Start.class.getClassLoader());
                    }
                } catch (Throwable e) {
                    // It needs a part of Android that the bench lacks.
                }
            }
        }
    }

    private static long micros() {
        return Debug.threadCpuTimeNanos() / 1000;
    }

    private static void print(String row, long value) {
        System.out.println(row + "\t" + value);
    }

    /** Loads the boot classes, as the zygote of a phone does before there is an app. */
    static void preload() throws Exception {
        load(System.getProperty("java.boot.class.path"), "", PRELOADED);
    }

    /** Measures. */
    public static void main(String[] args) throws Exception {
        final boolean recorder = args[0].equals("recorder");
        final boolean bytes = args[1].equals("bytes");
        preload();
        if (args[1].equals("loaded")) {
            load(System.getProperty("java.class.path"), "dev.tracegen.runtime.", ".*");
        }
        Looper.prepareMainLooper();
        App app = new App(new File(args[2]));
        Handler main = new Handler();
        if (bytes) {
            VMDebug.startAllocCounting();
        }
        micros();
        int classes = VMDebug.getLoadedClassCount();
        int allocated = VMDebug.getAllocCount(THREAD_BYTES);
        final int processClasses = classes;
        final int processAllocated = VMDebug.getAllocCount(PROCESS_BYTES);
        final long processCpu = Process.getElapsedCpuTime();
        long begin = micros();
        if (recorder) {
            AppMethodBeat.i(1);
        }
        long called = micros();
        if (recorder && !TracegenRuntime.start(app)) {
            throw new IllegalStateException("not recording");
        }
        long started = micros();
        final int mainAllocated = VMDebug.getAllocCount(THREAD_BYTES) - allocated;
        final int mainClasses = VMDebug.getLoadedClassCount() - classes;
        main.postDelayed(new Runnable() {
            @Override
            public void run() {
                long cpu = Process.getElapsedCpuTime() - processCpu;
                int allocated = VMDebug.getAllocCount(PROCESS_BYTES) - processAllocated;
                print("process, classes", VMDebug.getLoadedClassCount() - processClasses);
                if (bytes) {
                    print("main, bytes", mainAllocated);
                    print("process, bytes", allocated);
                } else {
                    print("process, CPU", 1000 * cpu);
                    long[] units = new long[5];
                    for (int k = 0; k < units.length; k++) {
                        long begin = micros();
                        loop();
                        units[k] = micros() - begin;
                    }
                    java.util.Arrays.sort(units);
                    print("unit", units[units.length / 2]);
                }
                print("status", AppMethodBeat.status());
                System.out.flush();
                Runtime.getRuntime().halt(0);
            }
        }, 500);
        long before = micros();
        classes = VMDebug.getLoadedClassCount();
        sum += sample();
        print("sample, CPU", micros() - before);
        print("sample, classes", VMDebug.getLoadedClassCount() - classes);
        print("main, first call", called - begin);
        print("main, start", started - called);
        print("main, classes", mainClasses);
        Looper.loop();
    }
}
