package dev.tracegen.runtime.android;

import android.app.ActivityManager;
import android.content.Context;
import android.os.Debug;
import android.os.Looper;
import android.os.Process;
import android.os.SystemClock;
import android.util.Log;
import dev.tracegen.runtime.MachineFacts;
import dev.tracegen.runtime.Platform;
import java.io.File;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.Map;

/** The clocks and counters of an Android process. */
final class AndroidPlatform extends Platform {
    /** {@code Debug.getRuntimeStat}, Android 6 and newer. */
    private static final Method RUNTIME_STAT = Reflection.method(Debug.class, "getRuntimeStat", String.class);

    /** Guarded by itself: two threads may read. */
    private final MachineFacts machine = new MachineFacts(new File("/proc"));
    private volatile ActivityManager manager;
    private volatile boolean noThreadCpu;

    @Override
    public long elapsedRealtimeNanos() {
        return SystemClock.elapsedRealtime() * 1000000L;
    }

    @Override
    public long threadCpuNanos() {
        try {
            return noThreadCpu ? -1 : Debug.threadCpuTimeNanos();
        } catch (Throwable e) {
            // It is read again and again while messages run.
            noThreadCpu = true;
            return -1;
        }
    }

    @Override
    public long processCpuNanos() {
        try {
            return Process.getElapsedCpuTime() * 1000000L;
        } catch (Throwable e) {
            return -1;
        }
    }

    @Override
    public boolean debuggerAttached() {
        try {
            return Debug.isDebuggerConnected();
        } catch (Throwable e) {
            return false;
        }
    }

    @Override
    public long gcCount() {
        return runtimeStat("art.gc.gc-count");
    }

    @Override
    public long gcMillis() {
        return runtimeStat("art.gc.gc-time");
    }

    /** Sets the app whose ActivityManager says whether the device is short of memory. */
    void context(Context context) {
        manager = (ActivityManager) context.getSystemService(Context.ACTIVITY_SERVICE);
    }

    @Override
    public Map<String, String> machineFacts(Thread thread) {
        try {
            synchronized (machine) {
                // The kernel's ID of another thread cannot be found out.
                boolean main = thread == Looper.getMainLooper().getThread();
                Map<String, String> all = machine.read(main ? MachineFacts.FIRST_THREAD : -1, nanoTime());
                lowMemory(all);
                return all;
            }
        } catch (Throwable e) {
            return Collections.emptyMap();
        }
    }

    /** Adds whether the device is short of memory. If the system does not say, the other facts are still there. */
    private void lowMemory(Map<String, String> facts) {
        ActivityManager m = manager;
        if (m == null) {
            return;
        }
        try {
            ActivityManager.MemoryInfo info = new ActivityManager.MemoryInfo();
            m.getMemoryInfo(info);
            facts.put("low-memory", String.valueOf(info.lowMemory));
        } catch (Throwable e) {
            // Unknown.
        }
    }

    @Override
    public Thread mainThread() {
        Looper main = Looper.getMainLooper();
        return main == null ? null : main.getThread();
    }

    @Override
    public void log(String line) {
        Log.i("tracegen", line);
    }

    private static long runtimeStat(String name) {
        try {
            return RUNTIME_STAT == null ? -1 : Long.parseLong((String) RUNTIME_STAT.invoke(null, name));
        } catch (Throwable e) {
            return -1;
        }
    }
}
