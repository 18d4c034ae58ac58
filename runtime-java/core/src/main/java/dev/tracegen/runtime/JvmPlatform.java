package dev.tracegen.runtime;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;

/**
 * The platform as any Java runtime has it. Android has no {@code java.lang.management}; whatever is missing there is
 * not known, and that is all: this class is also what records until the Android part has started.
 */
final class JvmPlatform extends Platform {
    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public long threadCpuNanos() {
        try {
            return Management.threadCpuNanos();
        } catch (Throwable e) {
            return -1;
        }
    }

    @Override
    public long gcCount() {
        try {
            return Management.gc(false);
        } catch (Throwable e) {
            return -1;
        }
    }

    @Override
    public long gcMillis() {
        try {
            return Management.gc(true);
        } catch (Throwable e) {
            return -1;
        }
    }

    @Override
    public String lockOwner(Thread thread) {
        try {
            return Management.lockOwner(thread);
        } catch (Throwable e) {
            return null;
        }
    }

    @Override
    public Thread mainThread() {
        try {
            Object looper = Class.forName("android.os.Looper").getMethod("getMainLooper").invoke(null);
            return (Thread) looper.getClass().getMethod("getThread").invoke(looper);
        } catch (Throwable notAndroid) {
            return firstThread();
        }
    }

    /** The launcher's thread has the ID 1 in every JVM that there is, if it is still alive. */
    private static Thread firstThread() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group != null && group.getParent() != null) {
            group = group.getParent();
        }
        Thread[] threads = new Thread[1024];
        int n = group == null ? 0 : group.enumerate(threads);
        for (int k = 0; k < n; k++) {
            if (threads[k].getId() == 1) {
                return threads[k];
            }
        }
        return null;
    }

    @Override
    public void log(String line) {
        System.err.println("tracegen: " + line);
    }

    /** Linked only where it is there. */
    private static final class Management {
        static long threadCpuNanos() {
            return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        }

        static long gc(boolean time) {
            long sum = 0;
            for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
                sum += Math.max(0, time ? bean.getCollectionTime() : bean.getCollectionCount());
            }
            return sum;
        }

        static String lockOwner(Thread thread) {
            ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId());
            if (info == null || info.getLockOwnerName() == null) {
                return null;
            }
            LockInfo lock = info.getLockInfo();
            return info.getLockOwnerName() + " holds " + (lock == null ? "it" : lock.getClassName());
        }
    }
}
