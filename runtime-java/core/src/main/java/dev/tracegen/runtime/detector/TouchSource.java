package dev.tracegen.runtime.detector;

import org.jspecify.annotations.Nullable;

/** Where {@link NativeTouch} reads which events wait for an answer. Tests replace it. */
abstract class TouchSource {
    /** As many events as {@link #pending} and {@link #late} return at most. */
    static final int EVENTS = 64;

    /** Begins to measure. Returns null, or why that is not possible. */
    abstract @Nullable String install(long lateNanos);

    abstract void remove();

    /** Returns a description of the slots. */
    abstract String slots();

    /** As {@link NativeLibrary#touchPending}. */
    abstract int pending(long[] events);

    /** As {@link NativeLibrary#touchLate}. */
    abstract int late(long[] events);

    /** Returns 0 if all messages were understood. */
    abstract int flags();

    /** The hook in libinput.so. */
    static final class Hook extends TouchSource {
        private static final byte[] LIBRARY = {'l', 'i', 'b', 'i', 'n', 'p', 'u', 't', '.', 's', 'o'};

        private final int[] counts = new int[5];

        @Override
        @Nullable String install(long lateNanos) {
            String why = NativeLibrary.load();
            if (why != null) {
                return why;
            }
            NativeLibrary.touchInstall(LIBRARY, lateNanos, counts);
            if (counts[0] == 0) {
                return "this process has no libinput.so";
            }
            if (counts[1] + counts[2] == 0) {
                return "libinput.so has 0 slots"
                        + (counts[4] != 0 ? ", and packed relocations, which are not read" : "");
            }
            return null;
        }

        @Override
        void remove() {
            NativeLibrary.touchRemove(LIBRARY);
        }

        @Override
        String slots() {
            String s = String.valueOf(counts[1]);
            s += counts[2] == 0 ? "" : ", " + counts[2] + " below another library";
            return s + (counts[3] == 0 ? "" : ", " + counts[3] + " left alone");
        }

        @Override
        int pending(long[] events) {
            return NativeLibrary.touchPending(events);
        }

        @Override
        int late(long[] events) {
            return NativeLibrary.touchLate(events);
        }

        @Override
        int flags() {
            return NativeLibrary.touchFlags();
        }
    }
}
