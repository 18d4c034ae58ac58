package dev.tracegen.runtime.detector;

import org.jspecify.annotations.Nullable;

/** The native methods. The library is an artefact of its own; see runtime-java/native. */
final class NativeLibrary {
    /** Results of {@link #quitInstall} and {@link #quitRemove}, as in quit.h. */
    static final int QUIT_OK = 0;
    static final int QUIT_NO_CATCHER = 1;
    static final int QUIT_COVERED = 3;

    private static boolean loaded;

    private NativeLibrary() {
    }

    /** Loads the library and returns null, or returns why that is not possible. */
    static synchronized @Nullable String load() {
        if (!loaded) {
            try {
                System.loadLibrary("tracegen_native");
            } catch (Throwable e) {
                return "the library tracegen_native cannot be loaded: " + e.getMessage();
            }
            loaded = true;
        }
        return null;
    }

    /** Sets counts to the number of libraries, of slots hooked, covered and skipped, and whether some are packed. */
    static native void touchInstall(byte[] library, long lateNanos, int[] counts);

    static native int touchRemove(byte[] library);

    /** Writes file descriptor, inode and begin of each event without an answer, and returns the number of events. */
    static native int touchPending(long[] events);

    /** Writes file descriptor, begin and end of each late answer since the last call, and returns their number. */
    static native int touchLate(long[] events);

    static native int touchFlags();

    static native int quitInstall();

    static native int quitRemove();

    /** Waits for a signal and returns its time, or 0 after {@link #quitWake}. */
    static native long quitWait();

    static native void quitWake();
}
