package dev.tracegen.runtime.detector;

import org.jspecify.annotations.Nullable;

/** The native methods. The library is an artefact of its own; see runtime-java/native. */
final class NativeLibrary {
    /** Results of {@link #quitInstall} and {@link #quitRemove}, as in quit.h. */
    static final int QUIT_OK = 0;
    static final int QUIT_NO_CATCHER = 1;
    static final int QUIT_COVERED = 3;
    static final int QUIT_RESTORED = 4;

    private static final String NAME = "tracegen_native";
    private static final String ABSENT = "the native library is not in this app";

    private static boolean loaded;

    private NativeLibrary() {
    }

    /** Loads the library and returns null, or returns why that is not possible. */
    static synchronized @Nullable String load() {
        if (!loaded) {
            try {
                System.loadLibrary(NAME);
            } catch (Throwable e) {
                String message = String.valueOf(e.getMessage());
                return isAbsent(message) ? ABSENT : "the native library cannot be loaded: " + message;
            }
            loaded = true;
        }
        return null;
    }

    /** Reports whether a message of Android or of HotSpot says that there is no file of the library. */
    static boolean isAbsent(String message) {
        String file = '"' + System.mapLibraryName(NAME) + '"';
        return message.contains("couldn't find " + file) || message.contains("library " + file + " not found")
                || message.startsWith("no " + NAME + " in ");
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

    /** Checks whether the handler is still there, and installs it again over a default action. */
    static native int quitLook();

    /** Waits for a signal and returns its time, or 0 after {@link #quitWake}. */
    static native long quitWait();

    static native void quitWake();
}
