package dev.tracegen.runtime.android;

import android.app.ActivityManager;
import android.content.Context;
import android.os.Debug;
import android.os.Looper;
import dev.tracegen.runtime.MachineFacts;
import java.io.File;
import java.util.Map;

/** What Linux and Android say of the processor, memory, disk and input and output. */
final class MachineState {
    private final ActivityManager manager;
    private final MachineFacts facts;

    /** @param output the recording; null for none, then the free space of the app's own directory is of interest */
    MachineState(Context context, File output) {
        manager = (ActivityManager) context.getSystemService(Context.ACTIVITY_SERVICE);
        facts = new MachineFacts(new File("/proc"), output != null ? output : context.getFilesDir());
    }

    /** Reads all. Two threads may call it. */
    synchronized Map<String, String> read(Thread thread, long nanos) {
        // The kernel's ID of another thread cannot be found out.
        boolean main = thread == Looper.getMainLooper().getThread();
        Map<String, String> all = facts.read(main ? MachineFacts.FIRST_THREAD : -1, nanos);
        try {
            all.put("native-heap-kb", String.valueOf(Debug.getNativeHeapAllocatedSize() >> 10));
        } catch (Throwable e) {
            // Unknown.
        }
        try {
            ActivityManager.MemoryInfo info = new ActivityManager.MemoryInfo();
            if (manager != null) {
                manager.getMemoryInfo(info);
                all.put("low-memory", String.valueOf(info.lowMemory));
                all.put("memory-available-kb", String.valueOf(info.availMem >> 10));
                all.put("memory-threshold-kb", String.valueOf(info.threshold >> 10));
            }
        } catch (Throwable e) {
            // Unknown.
        }
        return all;
    }
}
