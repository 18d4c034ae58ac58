package dev.tracegen.runtime;

/**
 * Recognizes virtual threads, which Java has since release 21. The class of all of them is found by its name, so this
 * runs with any release, and on Android.
 */
final class VirtualThreads {
    /** Null if there are no virtual threads. */
    private static final Class<?> BASE = base();

    private VirtualThreads() {
    }

    private static Class<?> base() {
        try {
            return Class.forName("java.lang.BaseVirtualThread", false, null);
        } catch (Throwable none) {
            return null;
        }
    }

    /** Reports whether a thread is a virtual one. */
    static boolean contains(Thread thread) {
        return BASE != null && BASE.isInstance(thread);
    }
}
