package dev.tracegen.runtime;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;

/** How many bytes the calling thread has allocated, as a JVM or ART counts them. */
final class AllocatedBytes {
    private AllocatedBytes() {
    }

    /** Only differences count: the call itself allocates always the same, or nothing. */
    static long ofThisThread() {
        return Host.isAndroid() ? Art.bytes() : Jvm.THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    private static final class Jvm {
        static final com.sun.management.ThreadMXBean THREADS =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    }

    private static final class Art {
        /** {@code VMDebug.KIND_THREAD_ALLOCATED_BYTES}. */
        private static final Object[] KIND = {1 << 17};
        private static final Method COUNT = startCounting();

        private static Method startCounting() {
            try {
                Class<?> debug = Class.forName("dalvik.system.VMDebug");
                debug.getMethod("startAllocCounting").invoke(null);
                return debug.getMethod("getAllocCount", int.class);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        static long bytes() {
            try {
                return (Integer) COUNT.invoke(null, KIND);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }
    }
}
