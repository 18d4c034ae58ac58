package dev.tracegen.runtime;

import android.app.Activity;

/**
 * What instrumented methods call: {@link #i} on entry, {@link #o} on exit.
 *
 * <p>Events of the main thread go into a ring of longs; those of all other threads cost one
 * comparison and are dropped. One thread writes, so no lock and no atomic is needed, and an event
 * allocates nothing. Once the ring is full the oldest events are overwritten.
 *
 * <p>One event is one long, laid out as Matrix does so that its readers understand a dump:
 *
 * <pre>
 *   bit  63      1 entry, 0 exit
 *   bits 43..62  method ID, 1 to 0xFFFFE
 *   bits  0..42  milliseconds since this class was initialised, monotonic
 * </pre>
 *
 * <p>None of the injected calls ever throws: whatever goes wrong in here must not surface in the
 * program that is being watched. This is why errors are swallowed below, and why the class works,
 * recording nothing, when its ring cannot be had or while its own initialiser still runs.
 *
 * <p>This is the smallest useful runtime. It has no recording file, no coarse clock and no looper
 * hooks yet.
 */
public final class AppMethodBeat {
    /** Events the ring holds: 1 MiB of longs. A power of two, so that wrapping is a mask. */
    private static final int CAPACITY = 1 << 17;

    private static final int MAX_ID = 0xFFFFE;
    private static final int ID_SHIFT = 43;
    private static final long ENTRY_BIT = 1L << 63;
    private static final long TIME_MASK = (1L << ID_SHIFT) - 1;

    private static final long START = System.nanoTime();

    // Null while the initialiser runs (a call of it may come back to i or o when what it calls is
    // instrumented) and for ever after if memory is short: no event is recorded then.
    private static final Thread MAIN;
    private static final long[] RING;

    /** How many events were ever written. Only the main thread writes it. */
    private static long written;

    /** The class and not the activity itself, which must not be kept from being collected. */
    private static volatile Class<?> focused;

    static {
        long[] ring = null;
        Thread main = null;
        try {
            ring = new long[CAPACITY];
            main = findMainThread();
        } catch (Throwable e) {
            ring = null;
        }
        RING = ring;
        MAIN = main;
    }

    private AppMethodBeat() {
    }

    /**
     * A method was entered.
     *
     * @param id the method's ID in the mapping; one outside 1 to 0xFFFFE is ignored
     */
    public static void i(int id) {
        if (Thread.currentThread() == MAIN) {
            record(id, ENTRY_BIT);
        }
    }

    /**
     * A method is about to be left.
     *
     * @param id the method's ID in the mapping; one outside 1 to 0xFFFFE is ignored
     */
    public static void o(int id) {
        if (Thread.currentThread() == MAIN) {
            record(id, 0);
        }
    }

    /**
     * An activity's window gained or lost the focus. Idempotent: it may be called by a class and by
     * its superclass for one and the same change.
     *
     * @param activity the activity, null is ignored
     * @param hasFocus whether its window has the focus now
     */
    public static void at(Activity activity, boolean hasFocus) {
        if (activity == null) {
            return;
        }
        Class<?> type = activity.getClass();
        if (hasFocus) {
            focused = type;
        } else if (focused == type) {
            // The next activity may have announced itself before this one's loss comes in.
            focused = null;
        }
    }

    /**
     * The class of the activity whose window has the focus.
     *
     * @return null if there is none, or none that is instrumented
     */
    public static Class<?> focusedActivity() {
        return focused;
    }

    /**
     * A copy of what the ring holds, oldest event first, laid out as the class comment says. Exact
     * when called on the main thread; on another one the newest events may be missing or torn.
     *
     * @return a fresh array of at most 131,072 events
     */
    public static long[] copy() {
        long[] ring = RING;
        long end = written;
        if (ring == null || end == 0) {
            return new long[0];
        }
        int count = (int) Math.min(end, CAPACITY);
        int first = (int) ((end - count) & (CAPACITY - 1));
        long[] events = new long[count];
        int head = Math.min(count, CAPACITY - first);
        System.arraycopy(ring, first, events, 0, head);
        System.arraycopy(ring, 0, events, head, count - head);
        return events;
    }

    private static void record(int id, long entryBit) {
        long[] ring = RING;
        if (ring == null || id < 1 || id > MAX_ID) {
            return;
        }
        long millis = (System.nanoTime() - START) / 1000000L;
        ring[(int) (written & (CAPACITY - 1))] =
                entryBit | (long) id << ID_SHIFT | millis & TIME_MASK;
        written++;
    }

    /**
     * Android's main thread is the one of the main looper, whichever thread comes here first. A
     * plain JVM has no looper; there it is the thread that initialises this class, which is the
     * first to enter an instrumented method.
     */
    private static Thread findMainThread() {
        try {
            Class<?> type = Class.forName("android.os.Looper");
            Object looper = type.getMethod("getMainLooper").invoke(null);
            Object thread = type.getMethod("getThread").invoke(looper);
            return (Thread) thread;
        } catch (Throwable e) {
            return Thread.currentThread();
        }
    }
}
