package dev.tracegen.runtime;

/**
 * What instrumented methods call: {@link #i} on entry, {@link #o} on exit.
 *
 * <p>A record is a long of the layout that {@link RecordCopy} tells; it goes into a ring of the calling thread's. By
 * default the main thread alone is recorded. None of these calls ever throws, calls itself, or allocates more than
 * once a thread.
 *
 * <p>The class has no static initialiser, so that a call of it needs no check whether it has run. All of its state has
 * the value 0 or null before the first call, which finds no fast path and is sent to {@link Recorder}, as is every
 * call that is not of the usual kind: of another thread, with a special ID, while the clock is paused or somebody
 * listens.
 */
public final class AppMethodBeat {
    /** The ID of a message's dispatch; methods have 1 to one less. */
    public static final int METHOD_ID_DISPATCH = 0xFFFFE;

    /** {@link #status}: nothing was called yet. */
    public static final int STATUS_DEFAULT = Integer.MAX_VALUE;

    /** {@link #status}: recording since the first call; waits for {@link Recorder#start}. */
    public static final int STATUS_READY = 1;

    /** {@link #status}: recording. */
    public static final int STATUS_STARTED = 2;

    /** {@link #status}: stopped; what was recorded is kept. */
    public static final int STATUS_STOPPED = -1;

    /** {@link #status}: nobody called {@link Recorder#start} in time. */
    public static final int STATUS_EXPIRED_START = -2;

    /** {@link #status}: expired, and the ring was given back. */
    public static final int STATUS_OUT_RELEASE = -3;

    /** {@link #mode}: nothing is to be recorded. */
    static final int OFF = -1;

    /** {@link #mode}: calls of threads that have no fast path are sent to {@link Recorder}; so before the first call. */
    static final int CALL_RECORDER = 0;

    /** {@link #mode}: only the thread of the fast path is recorded, the others' calls are nothing. */
    static final int MAIN_ONLY = 1;

    /**
     * One of the constants above. Not volatile: to look whether all is off shall cost as little as can be. Whoever goes
     * further looks at {@link #fast} each time, which lets nobody keep what he saw here; so a loop notices at once that
     * it is to record no more, and that it is to record as soon as it calls anything that is not compiled into it.
     */
    static int mode;

    /**
     * The main thread's ring while nothing but recording is to be done, or what stands for it while the clock is paused;
     * else null. It alone tells who may put records into it, whatever was read in {@link #mode}.
     */
    static volatile Ring fast;

    private AppMethodBeat() {
    }

    /**
     * A method was entered.
     *
     * @param id the method's ID in the mapping; one outside 1 to 0xFFFFE is ignored
     */
    public static void i(int id) {
        int m = mode;
        if (m < 0) {
            return;
        }
        try {
            Ring ring = fast;
            if (ring != null) {
                if (ring.owner != Thread.currentThread()) {
                    if (m == MAIN_ONLY) {
                        return;
                    }
                } else {
                    long now = ring.now();
                    if (now >= 0 && id > 0 && id < METHOD_ID_DISPATCH) {
                        ring.put(Ring.ENTRY | (long) id << Ring.ID_SHIFT | now);
                        return;
                    }
                }
            }
            Recorder.record(id, Ring.ENTRY);
        } catch (Throwable e) {
            // A stack at its end, most likely. The record is lost, the app goes on.
        }
    }

    /**
     * A method is about to be left.
     *
     * @param id the method's ID in the mapping; one outside 1 to 0xFFFFE is ignored
     */
    public static void o(int id) {
        int m = mode;
        if (m < 0) {
            return;
        }
        try {
            Ring ring = fast;
            if (ring != null) {
                if (ring.owner != Thread.currentThread()) {
                    if (m == MAIN_ONLY) {
                        return;
                    }
                } else {
                    long now = ring.now();
                    if (now >= 0 && id > 0 && id < METHOD_ID_DISPATCH) {
                        ring.put((long) id << Ring.ID_SHIFT | now);
                        return;
                    }
                }
            }
            Recorder.record(id, 0);
        } catch (Throwable e) {
            // As in i.
        }
    }

    /**
     * An activity's window gained or lost the focus. Idempotent: it may be called by a class and by its superclass for
     * one and the same change.
     *
     * @param activity the activity, null is ignored
     * @param hasFocus whether its window has the focus now
     */
    public static void at(android.app.Activity activity, boolean hasFocus) {
        if (mode < 0 || activity == null) {
            return;
        }
        try {
            Focus.changed(((Object) activity).getClass(), hasFocus);
        } catch (Throwable e) {
            // As in i.
        }
    }

    /**
     * What the recorder is doing.
     *
     * @return one of the constants {@code STATUS_...}; what is above 0 records
     */
    public static int status() {
        return Recorder.status();
    }
}
