package dev.tracegen.runtime;

import java.io.File;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** The platform of any JVM. A JVM may have no {@code java.lang.management}; the facts from it are unknown then. */
final class JvmPlatform extends Host.EarlyPlatform {
    /** The ID of the thread that runs main, in every known JVM. */
    private static final long LAUNCHER_THREAD = 1;

    private final MachineFacts machine = new MachineFacts(new File("/proc"));

    /** How long a reading of the machine is the present one: very many stalls may ask for it at once. */
    private static final long MACHINE_NANOS = 20000000L;

    // The last reading, and when it was made. Used under the lock of the reader.
    private Map<String, String> lastMachine;
    private long lastMachineNanos;

    /** Space for threads that start while the list is made. */
    private static final int MORE_THREADS = 64;

    @Override
    public long threadCpuNanos() {
        return threadCpuNanos(Thread.currentThread());
    }

    @Override
    public long threadCpuNanos(Thread thread) {
        if (VirtualThreads.contains(thread)) {
            return -1;
        }
        try {
            return Management.threadCpuNanos(thread);
        } catch (Throwable e) {
            return -1;
        }
    }

    @Override
    public long processCpuNanos() {
        try {
            return ProcessCpu.nanos();
        } catch (Throwable e) {
            return -1;
        }
    }

    @Override
    public long processorWaitNanos() {
        synchronized (machine) {
            return machine.processorWaitNanos();
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
    public LockWait lockWait(Thread thread) {
        try {
            return Management.lockWait(thread);
        } catch (Throwable e) {
            return null;
        }
    }

    @Override
    public Map<String, String> machineFacts(Thread thread) {
        synchronized (machine) {
            long now = nanoTime();
            if (lastMachine == null || now - lastMachineNanos >= MACHINE_NANOS) {
                // The kernel's ID of a thread is unknown here.
                lastMachine = machine.read(-1, now);
                lastMachineNanos = now;
            }
            return lastMachine;
        }
    }

    @Override
    public Thread mainThread() {
        // The looper is that of Android's classes, where a test runs them on a JVM.
        Thread main = super.mainThread();
        return main != null ? main : threadById(LAUNCHER_THREAD);
    }

    /** Returns a live thread by its ID; null if there is none, or if it is a virtual thread, which is in no group. */
    private static Thread threadById(long id) {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group != null && group.getParent() != null) {
            group = group.getParent();
        }
        Thread[] threads = new Thread[group == null ? 0 : group.activeCount() + MORE_THREADS];
        int n = group == null ? 0 : group.enumerate(threads);
        for (int k = 0; k < n; k++) {
            if (threads[k].getId() == id) {
                return threads[k];
            }
        }
        return null;
    }

    /** In a class of its own, as {@link Management}. The method is not part of java.lang.management. */
    private static final class ProcessCpu {
        private static final Object BEAN = ManagementFactory.getOperatingSystemMXBean();
        private static final Method TIME = method();

        private static Method method() {
            try {
                return Class.forName("com.sun.management.OperatingSystemMXBean").getMethod("getProcessCpuTime");
            } catch (Exception e) {
                return null;
            }
        }

        static long nanos() throws Exception {
            return TIME == null ? -1 : (Long) TIME.invoke(BEAN);
        }
    }

    /** In a class of its own, which is linked only where java.lang.management exists. */
    private static final class Management {
        // Finding them takes much longer than reading them, and each check of all threads reads them.
        private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
        private static final List<GarbageCollectorMXBean> COLLECTORS = ManagementFactory.getGarbageCollectorMXBeans();

        static long threadCpuNanos(Thread thread) {
            return thread == Thread.currentThread() ? THREADS.getCurrentThreadCpuTime()
                    : THREADS.getThreadCpuTime(thread.getId());
        }

        static long gc(boolean time) {
            long sum = 0;
            for (GarbageCollectorMXBean bean : COLLECTORS) {
                sum += Math.max(0, time ? bean.getCollectionTime() : bean.getCollectionCount());
            }
            return sum;
        }

        static LockWait lockWait(Thread thread) {
            if (VirtualThreads.contains(thread)) {
                // The JVM says nothing of these. A lock that is no monitor is known, and who holds it is not.
                Object blocker = LockSupport.getBlocker(thread);
                return blocker == null ? null
                        : new LockWait(blocker.getClass().getName(), System.identityHashCode(blocker), null);
            }
            ThreadInfo info = THREADS.getThreadInfo(thread.getId());
            LockInfo lock = info == null ? null : info.getLockInfo();
            if (lock == null) {
                return null;
            }
            long owner = info.getLockOwnerId();
            return new LockWait(lock.getClassName(), lock.getIdentityHashCode(), owner < 0 ? null : threadById(owner));
        }
    }
}
