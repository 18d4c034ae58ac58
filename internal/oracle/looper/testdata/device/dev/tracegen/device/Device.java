package dev.tracegen.device;

import android.app.ActivityManager;
import android.content.res.AssetManager;
import android.content.Context;
import android.os.IBinder;
import android.os.Looper;
import android.os.ParcelFileDescriptor;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The parts of a device that the classes of android-all need to run a main looper: the natives, a main thread, a
 * display service with one display. Nothing of android-all is replaced.
 */
public final class Device {
    /** The platform's version. */
    public final int api;

    /** Whether this is ART. Then its boot class path has android-all, and the natives of android.os. */
    public static final boolean ART = "Dalvik".equals(System.getProperty("java.vm.name"));

    private static final Properties properties = new Properties();

    private static Object displayInfo;
    private static volatile File assetDirectory;
    private static final List<InputStream> openAssets = new ArrayList<InputStream>();
    private static volatile Object exitReasons;
    private static volatile int importance = ActivityManager.RunningAppProcessInfo.IMPORTANCE_BACKGROUND;

    private Device(int api) {
        this.api = api;
    }

    /** Called by the natives. */
    static String property(String key, String otherwise) {
        return properties.getProperty(key, otherwise);
    }

    /** Called by the natives, on the looper's thread: the display's vsync. */
    static void vsync(WeakReference<?> receiver, WeakReference<?> data, long due, long interval) throws Exception {
        Class<?> type = Class.forName("android.view.DisplayEventReceiver");
        boolean wide = data != null;
        Method dispatch = type.getDeclaredMethod("dispatchVsync", long.class, wide ? long.class : int.class, int.class);
        dispatch.setAccessible(true);
        Object of = receiver.get();
        if (of != null) {
            if (wide) {
                fill(data.get(), due, interval);
            }
            dispatch.invoke(of, due, wide ? (Object) 0L : (Object) 0, (int) (due / interval));
        }
    }

    /** Called by the natives: returns the last state of the display. */
    static Object latestVsync(long due, long interval) throws Exception {
        Constructor<?> make = Class.forName("android.view.DisplayEventReceiver$VsyncEventData").getDeclaredConstructor();
        make.setAccessible(true);
        Object data = make.newInstance();
        fill(data, due, interval);
        return data;
    }

    private static void fill(Object data, long due, long interval) throws Exception {
        set(data, "frameInterval", interval);
        set(data, "frameTimelinesLength", 1);
        Object timeline = Array.get(data.getClass().getField("frameTimelines").get(data), 0);
        set(timeline, "vsyncId", due / interval);
        set(timeline, "deadline", due + interval);
        set(timeline, "expectedPresentationTime", due + 2 * interval);
    }

    /** Returns the app's assets: the files of a directory. */
    public static AssetManager assets(File directory) throws Exception {
        assetDirectory = directory;
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field only = unsafe.getDeclaredField("theUnsafe");
        only.setAccessible(true);
        AssetManager assets = (AssetManager) unsafe.getMethod("allocateInstance", Class.class)
                .invoke(only.get(null), AssetManager.class);
        setOwn(assets, "mOpen", true);
        setOwn(assets, "mObject", 1L);
        // It is not destroyed when the last asset is closed.
        setOwn(assets, "mNumRefs", 1);
        return assets;
    }

    private static void setOwn(Object of, String field, Object value) throws Exception {
        Field f = of.getClass().getDeclaredField(field);
        f.setAccessible(true);
        f.set(of, f.getType() == AtomicInteger.class ? new AtomicInteger((Integer) value) : value);
    }

    /** Called by the natives. */
    static long openAsset(String name) throws IOException {
        synchronized (openAssets) {
            openAssets.add(new FileInputStream(new File(assetDirectory, name)));
            return openAssets.size();
        }
    }

    /** Called by the natives. Returns 0 at the end. */
    static int readAsset(long asset, byte[] b, int off, int len) throws IOException {
        synchronized (openAssets) {
            return openAssets.get((int) asset - 1).read(b, off, len);
        }
    }

    private static native void setDevice();

    /** Sets the natives of a class that ART's boot class path has: ART does not look for them in this library. */
    private static native void bindAssets(Class<?> manager);

    private static native Class<?> defineBootClass(String name, byte[] bytes);

    /** Returns how many frames were requested of the display by now. */
    public static native long vsyncsRequested();

    private static native void setInterval(long nanos);

    /** Changes the refresh rate of the display, as a panel does. */
    public static void setRefreshRate(float hz) throws Exception {
        set(displayInfo, "refreshRate", hz);
        set(displayInfo, "renderFrameRate", hz);
        Object mode = Array.get(displayInfo.getClass().getField("supportedModes").get(displayInfo), 0);
        for (Field f : mode.getClass().getDeclaredFields()) {
            if (f.getName().equals("mRefreshRate") || f.getName().equals("mPeakRefreshRate")) {
                f.setAccessible(true);
                f.set(mode, hz);
            }
        }
        setInterval((long) (1e9 / hz));
    }

    /** Sets the importance of the process, as Android's activity service has it. */
    public static void setImportance(int value) throws Exception {
        importance = value;
        addActivityService();
    }

    /**
     * Makes the calling thread the main thread of an app. Afterwards it should call {@code Looper.loop()}.
     *
     * @param library the natives
     * @param api the version of android-all
     * @param lockFree for Android 17: whether the app targets it, so that its queue is the lock-free one
     */
    public static Device boot(String library, int api, boolean lockFree) throws Exception {
        System.load(library);
        setDevice();
        if (ART) {
            bindAssets(Class.forName("android.content.res.AssetManager"));
        } else {
            beART();
        }
        if (api >= 37 && !lockFree) {
            // As ActivityThread does for an app with an older target: the change is among the disabled ones.
            long change = Class.forName("android.os.MessageQueue").getField("USE_NEW_MESSAGEQUEUE").getLong(null);
            disableChanges(change);
        }
        addDisplayService();
        Looper.prepareMainLooper();
        return new Device(api);
    }

    /** Gives the classes of android-all what ART and its properties give them on a device. */
    private static void beART() throws Exception {
        properties.load(Device.class.getResourceAsStream("/build.prop"));
        for (String list : new String[] {"", "32", "64"}) {
            // Build is not initialized without them.
            properties.setProperty("ro.product.cpu.abilist" + list, list.equals("32") ? "armeabi-v7a" : "arm64-v8a");
        }
        // From 36.1 on, a thread's priority is set by ART's java.lang.Thread, before that by a native.
        properties.setProperty("ro.build.version.sdk_full", "36.0");
        defineBootClass("sun/misc/Cleaner", bytes("/sun/misc/Cleaner.class"));
    }

    private static void disableChanges(long change) throws Exception {
        Class<?> callbacks = Class.forName("android.app.AppCompatCallbacks");
        for (Method m : callbacks.getMethods()) {
            if (m.getName().equals("install")) {
                Object[] args = new Object[m.getParameterTypes().length];
                for (int k = 0; k < args.length; k++) {
                    args[k] = k == 0 ? new long[] {change} : new long[0];
                }
                m.invoke(null, args);
                return;
            }
        }
        throw new IllegalStateException("no AppCompatCallbacks.install");
    }

    /** Choreographer asks the display manager for the refresh rate. */
    private static void addDisplayService() throws Exception {
        Class<?> infoType = Class.forName("android.view.DisplayInfo");
        Class<?> modeType = Class.forName("android.view.Display$Mode");
        Object info = infoType.getConstructor().newInstance();
        Object mode = modeType.getConstructor(int.class, int.class, int.class, float.class).newInstance(1, 1080,
                1920, 60f);
        Object modes = Array.newInstance(modeType, 1);
        Array.set(modes, 0, mode);
        set(info, "supportedModes", modes);
        set(info, "modeId", 1);
        set(info, "refreshRate", 60f);
        set(info, "renderFrameRate", 60f);
        displayInfo = info;
        addService("display", answering(Class.forName("android.hardware.display.IDisplayManager"), "getDisplayInfo",
                info));
    }

    /**
     * Makes {@code ActivityManager} say how earlier processes ended. The classes {@code ActivityManager} and
     * {@code ApplicationExitInfo}, which Android 11 and newer have, and the stream of its trace are Android's own; the
     * service behind them is not.
     *
     * @param context the context of the manager
     * @param exits facts about each process, by the names of the setters of {@code ApplicationExitInfo} without
     *     "set"; the value of "Trace" is the trace as a file that is compressed with gzip
     * @return the manager
     */
    public static Object activityManager(Context context, List<Map<String, Object>> exits) throws Exception {
        Class<?> type = Class.forName("android.app.ApplicationExitInfo");
        List<Object> list = new ArrayList<Object>();
        for (Map<String, Object> facts : exits) {
            Object exit = type.getConstructor().newInstance();
            for (Map.Entry<String, Object> fact : facts.entrySet()) {
                boolean trace = fact.getKey().equals("Trace");
                Object value = !trace ? fact.getValue() : answering(Class.forName("android.app.IAppTraceRetriever"),
                        "getTraceFileDescriptor", new OpenTrace((File) fact.getValue()));
                call(exit, trace ? "setAppTraceRetriever" : "set" + fact.getKey(), value);
            }
            list.add(exit);
        }
        Object slice = Class.forName("android.content.pm.ParceledListSlice").getConstructor(List.class)
                .newInstance(list);
        exitReasons = slice;
        addActivityService();
        Constructor<?> make = Class.forName("android.app.ActivityManager").getDeclaredConstructor(Context.class,
                Class.forName("android.os.Handler"));
        make.setAccessible(true);
        return make.newInstance(context, null);
    }

    /** The file of a trace. A ParcelFileDescriptor of a descriptor would need ART's FileDescriptor. */
    private static final class OpenTrace extends ParcelFileDescriptor {
        private final FileInputStream file;

        OpenTrace(File file) throws Exception {
            super((ParcelFileDescriptor) null);
            this.file = new FileInputStream(file);
        }

        @Override
        public FileDescriptor getFileDescriptor() {
            try {
                return file.getFD();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    private static void call(Object of, String name, Object value) throws Exception {
        for (Method m : of.getClass().getMethods()) {
            if (m.getName().equals(name) && m.getParameterTypes().length == 1) {
                m.invoke(of, value);
                return;
            }
        }
        throw new NoSuchMethodException(name);
    }

    @SuppressWarnings("unchecked")
    private static void addService(String name, Object service) throws Exception {
        Field cache = Class.forName("android.os.ServiceManager").getDeclaredField("sCache");
        cache.setAccessible(true);
        ((Map<String, Object>) cache.get(null)).put(name, answering(IBinder.class, "queryLocalInterface", service));
    }

    /** ActivityManager asks the activity service for the importance of the process, and how others ended. */
    private static void addActivityService() throws Exception {
        addService("activity", Proxy.newProxyInstance(Device.class.getClassLoader(),
                new Class<?>[] {Class.forName("android.app.IActivityManager")}, new InvocationHandler() {
                    @Override
                    public Object invoke(Object self, Method method, Object[] args) {
                        if (method.getName().equals("getMyMemoryState")) {
                            ((ActivityManager.RunningAppProcessInfo) args[0]).importance = importance;
                        }
                        return method.getName().equals("getHistoricalProcessExitReasons") ? exitReasons
                                : nothing(method.getReturnType());
                    }
                }));
    }

    private static Object nothing(Class<?> r) {
        return r.isPrimitive() && r != void.class ? Array.get(Array.newInstance(r, 1), 0) : null;
    }

    private static void set(Object of, String field, Object value) throws Exception {
        try {
            of.getClass().getField(field).set(of, value);
        } catch (NoSuchFieldException e) {
            // Other versions have it.
        }
    }

    /** Answers one call, and returns nothing for all others. */
    private static Object answering(Class<?> type, final String question, final Object answer) {
        return Proxy.newProxyInstance(Device.class.getClassLoader(), new Class<?>[] {type}, new InvocationHandler() {
            @Override
            public Object invoke(Object self, Method method, Object[] args) {
                if (method.getName().equals(question)) {
                    return answer;
                }
                return nothing(method.getReturnType());
            }
        });
    }

    private static byte[] bytes(String resource) throws Exception {
        InputStream in = Device.class.getResourceAsStream(resource);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[4096];
        for (int n = in.read(buffer); n > 0; n = in.read(buffer)) {
            out.write(buffer, 0, n);
        }
        in.close();
        return out.toByteArray();
    }
}
