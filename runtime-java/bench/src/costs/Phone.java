package costs;

import android.content.Context;
import android.content.res.AssetManager;
import android.os.Looper;
import com.sun.management.ThreadMXBean;
import dev.tracegen.device.Device;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;

/** What the programs of this package have in common: a device, an app, and the counters of the main thread. */
final class Phone {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Phone() {
    }

    /** Makes this thread the main thread of an app on Android 14. */
    static void boot(String natives) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler(new Thread.UncaughtExceptionHandler() {
            @Override
            public void uncaughtException(Thread thread, Throwable e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        });
        Device.boot(natives, 34, false);
        activityThread();
    }

    /** Sets what Matrix looks for: the object of the app's main thread, with its handler. */
    private static void activityThread() throws Exception {
        Class<?> type = Class.forName("android.app.ActivityThread");
        Object thread = withoutConstructor(type);
        set(thread, type, "mH", withoutConstructor(Class.forName("android.app.ActivityThread$H")));
        set(null, type, "sCurrentActivityThread", thread);
    }

    private static Object withoutConstructor(Class<?> type) throws Exception {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field instance = unsafe.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        return unsafe.getMethod("allocateInstance", Class.class).invoke(instance.get(null), type);
    }

    private static void set(Object of, Class<?> type, String name, Object value) throws Exception {
        Field f = type.getDeclaredField(name);
        f.setAccessible(true);
        f.set(of, value);
    }

    static long cpuNanos() {
        return THREADS.getCurrentThreadCpuTime();
    }

    static long allocatedBytes() {
        return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    static void print(String row, double value, String unit) {
        System.out.println(row + "\t" + String.format("%.3f", value) + "\t" + unit);
    }

    /** Fails if our recorder has turned itself off: the figures would be those of a runtime that is off. */
    static void checkRecording() {
        if (dev.tracegen.runtime.AppMethodBeat.status() <= 0) {
            throw new IllegalStateException("not recording any more");
        }
    }

    /** Starts Matrix's recorder. It must have been called from an instrumented method before. */
    static void startMatrix() {
        com.tencent.matrix.trace.core.AppMethodBeat.i(1);
        com.tencent.matrix.trace.core.AppMethodBeat.o(1);
        com.tencent.matrix.trace.core.AppMethodBeat.getInstance().onStart();
    }

    /** The parts of an app's context that the runtime uses. */
    static final class App extends android.app.Application {
        private final File files = new File(System.getProperty("java.io.tmpdir"), "files");

        @Override
        public Context getApplicationContext() {
            return this;
        }

        @Override
        public String getPackageName() {
            return "dev.tracegen.costs";
        }

        @Override
        public File getFilesDir() {
            files.mkdirs();
            return files;
        }

        @Override
        public File getNoBackupFilesDir() {
            return getFilesDir();
        }

        @Override
        public Object getSystemService(String name) {
            return null;
        }

        /** There is no metadata: the configuration is the default. */
        @Override
        public AssetManager getAssets() {
            return null;
        }
    }

    /** Runs something as the first message of the main Looper, and then ends the process. */
    static void onMain(final Work work) {
        new android.os.Handler().post(new Runnable() {
            @Override
            public void run() {
                int status = 0;
                try {
                    work.run();
                } catch (Throwable e) {
                    e.printStackTrace();
                    status = 1;
                }
                System.out.flush();
                Runtime.getRuntime().halt(status);
            }
        });
        Looper.loop();
    }

    /** Something that may throw. */
    interface Work {
        void run() throws Exception;
    }
}
