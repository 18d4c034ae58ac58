package dev.tracegen.runtime;

import org.jspecify.annotations.Nullable;

/**
 * The class that instrumented methods call: {@link #i} on entry, {@link #o} on exit.
 *
 * <p>Each call puts a record into the ring of its thread; {@link RecordCopy} describes the bits. By default only the
 * main thread is recorded. The methods never throw and never call instrumented methods. They allocate only at the
 * first call of each thread, and when methods are switched on or off, see {@link Gate}.
 *
 * <p>The class has no static initializer, so that the JVM need not check whether it has run. Before the first call
 * all fields are 0 or null, so the first call finds no fast path and goes to {@link Recorder}. So does every other
 * call that the fast path cannot handle: of another thread, with a special ID, or while the clock is paused.
 */
public final class AppMethodBeat {
    /** The ID that stands for the dispatch of a message. Methods have IDs from 1 to this less 1. */
    public static final int METHOD_ID_DISPATCH = 0xFFFFE;

    /** {@link #status}: no instrumented method was called yet. */
    public static final int STATUS_DEFAULT = Integer.MAX_VALUE;

    /**
     * {@link #status}: recording since the first call, until {@link Recorder#start} is called or its time is over.
     */
    public static final int STATUS_READY = 1;

    /** {@link #status}: recording. */
    public static final int STATUS_STARTED = 2;

    /** {@link #status}: stopped; the rings still hold their records. */
    public static final int STATUS_STOPPED = -1;

    /** {@link #status}: {@link Recorder#start} was not called in time. */
    public static final int STATUS_EXPIRED_START = -2;

    /** {@link #status}: {@link Recorder#start} was not called in time, and the ring was released. */
    public static final int STATUS_OUT_RELEASE = -3;

    /** The bits that an ID has. */
    static final int ID_MASK = 0xFFFFF;

    /** {@link #mode}: nothing is recorded. */
    static final int OFF = -1;

    /**
     * {@link #mode}: calls of all threads but the owner of {@link #fast} go to {@link Recorder}. This is the mode
     * before the first call.
     */
    static final int CALL_RECORDER = 0;

    /** {@link #mode}: only the main thread is recorded; calls of other threads return at once. */
    static final int MAIN_ONLY = 1;

    /** One of the constants above. */
    static int mode;

    /**
     * The main thread's ring while recording is the only work to do; {@link Ring#placeholder} while the clock is
     * paused or the thread must switch methods on or off; else null. A thread puts records only into a ring that it
     * owns, whatever values of this and of {@link #mode} it has read.
     *
     * <p>Neither is volatile, to make the calls that are not recorded as cheap as possible: the compiler may read them
     * once for several calls that it has inlined. Recording stops at once all the same. A call that is recorded reads
     * {@link Ring#now}, one that is left out {@link Ring#states}, and one that goes to {@link Recorder} a volatile
     * field there, so the compiler must read the two again for the next call. A thread that is not recorded sees that
     * it is to be recorded as soon as it calls something that is not inlined. Until then its calls are missing, as if
     * recording had begun later. An old value of a ring's fields does no harm: the owner has made its ring itself, and
     * of a placeholder only final fields and what the owner writes are used.
     */
    static Ring fast;

    /**
     * The methods that are let go and have at most this value in {@link Edition#LET_GO} are to be seen in stacks: 0,
     * or {@link LetGo#SEEN} while one is taken.
     */
    static int shown;

    private AppMethodBeat() {
    }

    /**
     * Records that a method was entered.
     *
     * @param id the method's ID in the mapping; IDs outside of 1 to 0xFFFFE are ignored
     */
    public static void i(int id) {
        if (Edition.LETS_GO) {
            // A few instructions: where methods are let go, the others have few calls, and what the JIT inlines for
            // these costs more than they do.
            if (Edition.LET_GO[id & ID_MASK] <= shown) {
                FastPath.enter(id);
            }
            return;
        }
        int m = mode;
        if (m < 0) {
            return;
        }
        Thread thread;
        try {
            thread = Thread.currentThread();
        } catch (Throwable e) {
            return;
        }
        Ring ring = fast;
        if (ring != null && ring.owner == thread) {
            int n = ring.next;
            if (n != ring.stop && id < METHOD_ID_DISPATCH
                    && (id >= ring.gateEnd || id > 0 && ring.gate[id] == 0)) {
                // As Ring.put does it.
                long[] slots = ring.slots;
                slots[n & slots.length - 1] = (Ring.ENTRY + Ring.FULL) + ((long) id << Ring.ID_SHIFT) + ring.now;
                ring.next = n + 1;
                return;
            }
        } else if (m == MAIN_ONLY && ring != null) {
            return;
        } else {
            ring = null;
        }
        try {
            FastPath.entry(ring, id);
        } catch (Throwable e) {
            // Most likely a stack overflow. The record is lost, and the app goes on.
        }
    }

    /** Records that a method is about to exit. */
    public static void o(int id) {
        if (Edition.LETS_GO) {
            if (Edition.LET_GO[id & ID_MASK] == 0) {
                FastPath.leave(id);
            }
            return;
        }
        int m = mode;
        if (m < 0) {
            return;
        }
        Thread thread;
        try {
            thread = Thread.currentThread();
        } catch (Throwable e) {
            return;
        }
        Ring ring = fast;
        if (ring != null && ring.owner == thread) {
            int n = ring.next;
            if (n != ring.stop && id < METHOD_ID_DISPATCH
                    && (id >= ring.gateEnd || id > 0 && ring.gate[id] == 0)) {
                // As Ring.put does it.
                long[] slots = ring.slots;
                slots[n & slots.length - 1] = Ring.FULL + ((long) id << Ring.ID_SHIFT) + ring.now;
                ring.next = n + 1;
                return;
            }
        } else if (m == MAIN_ONLY && ring != null) {
            return;
        } else {
            ring = null;
        }
        try {
            FastPath.exit(ring, id);
        } catch (Throwable e) {
            // As in i.
        }
    }

    /**
     * Records that a suspend function or lambda is about to exit, as {@link #o(int)} does, and whether it is suspended.
     *
     * @param result what it returns
     */
    public static void o(@Nullable Object result, int id) {
        if (result instanceof Enum && mode >= 0) {
            suspends((Enum<?>) result, id);
        }
        o(id);
    }

    private static void suspends(Enum<?> result, int id) {
        try {
            if (Marks.isSuspended(result)) {
                Marks.put(Marks.SUSPENDS, null, id);
            }
        } catch (Throwable e) {
            // As in i.
        }
    }

    /**
     * Records that the innermost call, of a suspend function, makes the continuation by which it is resumed.
     *
     * @param id the ID of the function
     */
    public static void continues(@Nullable Object continuation, int id) {
        mark(Marks.CONTINUES, continuation, id);
    }

    /**
     * Records that a suspend lambda is made, which may be run later.
     *
     * @param id the ID of its {@code invokeSuspend}
     */
    public static void starts(@Nullable Object continuation, int id) {
        mark(Marks.STARTS, continuation, id);
    }

    /**
     * Records that the next call of a suspend function or lambda begins, or goes on, by a continuation.
     *
     * @param id the ID of the function, or of the lambda's {@code invokeSuspend}
     */
    public static void resumes(@Nullable Object continuation, int id) {
        mark(Marks.RESUMES, continuation, id);
    }

    private static void mark(int kind, Object continuation, int id) {
        if (mode < 0) {
            return;
        }
        try {
            Marks.put(kind, continuation, id);
        } catch (Throwable e) {
            // As in i.
        }
    }

    /**
     * Records that the window of an activity gained or lost the focus. A second call for the same change has no
     * effect: a class and its superclass may both call it.
     *
     * @param activity the activity; null is ignored
     */
    public static void at(android.app.@Nullable Activity activity, boolean hasFocus) {
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
     * Records that a method is about to post a message or to hand a Runnable to an Executor. Classes that are
     * instrumented with {@code --trace-posts} call it.
     *
     * @param target what the method posts to, or {@code posted} again if that is not known
     * @param posted the {@code Runnable} or the {@code Message}; others are ignored
     */
    public static void posted(@Nullable Object target, @Nullable Object posted, int id) {
        if (mode < 0) {
            return;
        }
        try {
            PostedBy.posted(target, posted, id);
        } catch (Throwable e) {
            // As in i.
        }
    }

    /**
     * Records that a method is about to post a message that has nothing but a {@code what}.
     *
     * @param target the {@code Handler}; others are ignored
     */
    public static void posted(@Nullable Object target, int what, int id) {
        if (mode < 0) {
            return;
        }
        try {
            PostedBy.posted(target, what, id);
        } catch (Throwable e) {
            // As in i.
        }
    }

    /**
     * Returns the state of the recorder.
     *
     * @return one of the constants {@code STATUS_...}; it records if the value is above 0
     */
    public static int status() {
        return Recorder.status;
    }
}
