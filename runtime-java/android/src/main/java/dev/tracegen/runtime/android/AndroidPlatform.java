package dev.tracegen.runtime.android;

import android.os.Debug;
import android.os.Looper;
import android.os.Process;
import android.os.SystemClock;
import android.util.Log;
import dev.tracegen.runtime.Platform;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.Map;

/** The clocks and counters of an Android process. */
final class AndroidPlatform extends Platform {
    /** {@code Debug.getRuntimeStat}, Android 6 and newer. */
    private static final Method RUNTIME_STAT = Reflection.method(Debug.class, "getRuntimeStat", String.class);

    private volatile MachineState machine;
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

    /** Sets what reads the state of the machine. */
    void machine(MachineState value) {
        machine = value;
    }

    @Override
    public Map<String, String> machineFacts(Thread thread) {
        MachineState m = machine;
        try {
            return m == null ? Collections.<String, String>emptyMap() : m.read(thread, nanoTime());
        } catch (Throwable e) {
            return Collections.emptyMap();
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
