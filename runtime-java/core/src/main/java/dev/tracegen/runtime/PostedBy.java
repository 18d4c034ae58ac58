package dev.tracegen.runtime;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Which methods have posted the messages that wait. {@link AppMethodBeat#posted} adds to it, and code that watches a
 * message queue looks up each message that begins, and so takes it out.
 *
 * <p>A message is known by its callback, or without a callback by its Handler and its {@code what}: a Looper's text has
 * no more. If several methods have posted the same, the messages are not named until all of them have run. So a name is
 * right unless the same object was also posted by code without probes.
 *
 * <p>It keeps no object alive. It keeps at most 4,096 objects; of those that do not fit it remembers the hash, and
 * names no message of an object with such a hash from then on. All methods may be called on any thread and never call
 * code of the app.
 */
public final class PostedBy {
    /** Recognises what messages are posted to. */
    public interface Targets {
        /** Reports whether an object is a Handler. */
        boolean isHandler(Object target);

        /**
         * Reports whether an object posts the Runnables that it gets, in messages of their own: a Handler or a View.
         */
        boolean postsRunnables(Object target);

        /** Reports whether an object is a message. */
        boolean isMessage(Object posted);

        /**
         * Returns the Handler of a message.
         *
         * @return null if it has none
         */
        @Nullable Object handlerOf(Object message);

        /**
         * Returns the callback of a message.
         *
         * @return null if it has none
         */
        @Nullable Runnable callbackOf(Object message);

        /** Returns the {@code what} of a message. */
        int whatOf(Object message);
    }

    private static final int MAX_ENTRIES = 4096;
    private static final int BUCKETS = 1024;
    private static final String DISPATCHING = ">>>>> Dispatching to ";
    private static final String HANDLER = "Handler (";

    private static volatile PostedBy current;

    private final Targets targets;
    private final ReferenceQueue<Object> dead = new ReferenceQueue<Object>();

    // All guarded by this object, but that size may be read without.
    private Entry[] buckets;
    private volatile int size;

    /** One bit for some hashes of objects that did not fit; null if all did. */
    private long[] lost;

    /** The posts of one object that wait. */
    private static final class Entry extends WeakReference<Object> {
        final int hash;

        /** Whether the object is a Handler, and the messages have no callback. */
        final boolean handler;
        final int what;
        Entry next;

        /** The method of all posts; 0 if there are several, so that none is certain. */
        int id;

        /** When it was; 0 if there are several posts. */
        long nanos;
        int posts;

        /** Whether it went to a Handler or a View, and not to an Executor, which may do anything with it. */
        boolean direct;

        /** Whether posts of this object, or of one with the same hash, did not fit before. */
        final boolean incomplete;

        Entry(Object object, ReferenceQueue<Object> queue, int hash, boolean handler, int what, boolean incomplete) {
            super(object, queue);
            this.hash = hash;
            this.handler = handler;
            this.what = what;
            this.incomplete = incomplete;
        }

        void add(int by, boolean toQueue, long now) {
            if (direct && !toQueue) {
                // It is known already what posts the message.
                return;
            }
            if (posts == 0 || toQueue && !direct) {
                // An Executor of the app has posted to a Handler: that is what posted the message.
                id = by;
                nanos = now;
                posts = 1;
            } else {
                id = by == id ? id : 0;
                nanos = 0;
                posts++;
            }
            direct = toQueue;
        }
    }

    private PostedBy(Targets targets) {
        this.targets = targets;
    }

    /** Begins with an empty table. */
    public static void begin(Targets targets) {
        current = new PostedBy(targets);
    }

    /** Ends, and frees the table. */
    public static void end() {
        current = null;
    }

    /** See {@link AppMethodBeat#posted(Object, Object, int)}. */
    static void posted(Object target, Object posted, int id) {
        PostedBy p = current;
        if (p == null || posted == null || target == null || id <= 0 || id >= AppMethodBeat.METHOD_ID_DISPATCH) {
            return;
        }
        Targets is = p.targets;
        if (is.isMessage(posted)) {
            if (target != posted && !is.isHandler(target)) {
                return; // a method of the app that has the name of one of Handler's
            }
            Object handler = target == posted ? is.handlerOf(posted) : target;
            Runnable callback = is.callbackOf(posted);
            if (callback != null) {
                p.add(callback, false, 0, id, true);
            } else if (handler != null) {
                p.add(handler, true, is.whatOf(posted), id, true);
            }
        } else if (posted instanceof Runnable) {
            boolean direct = target != posted && is.postsRunnables(target);
            if (direct || target == posted || target instanceof Executor) {
                p.add(posted, false, 0, id, direct);
            }
        }
    }

    /** See {@link AppMethodBeat#posted(Object, int, int)}. */
    static void posted(Object target, int what, int id) {
        PostedBy p = current;
        if (p != null && target != null && id > 0 && id < AppMethodBeat.METHOD_ID_DISPATCH
                && p.targets.isHandler(target)) {
            p.add(target, true, what, id, true);
        }
    }

    /**
     * A message begins. Reports the method that posted it to the trace of the thread, if it is certain.
     *
     * @param trace of the thread that runs the message
     * @param text as the Looper passes it to its {@code Printer}
     */
    public static void began(ThreadTrace trace, String text) {
        PostedBy p = current;
        if (p == null || p.size == 0) {
            return;
        }
        try {
            p.take(trace, text);
        } catch (Throwable e) {
            // Most likely a text that looks like no other. The message is not named.
        }
    }

    private static int bucket(int hash, boolean handler, int what) {
        int h = (handler ? hash + what * 0x9E3779B1 : hash) * 0x85EBCA6B;
        return (h ^ h >>> 15) & BUCKETS - 1;
    }

    private synchronized void add(Object object, boolean handler, int what, int id, boolean direct) {
        if (buckets == null) {
            buckets = new Entry[BUCKETS];
        }
        removeDead();
        int hash = System.identityHashCode(object);
        int at = bucket(hash, handler, what);
        Entry e = buckets[at];
        while (e != null && (e.hash != hash || e.handler != handler || e.what != what || e.get() != object)) {
            e = e.next;
        }
        if (e == null) {
            if (size >= MAX_ENTRIES) {
                if (lost == null) {
                    lost = new long[BUCKETS];
                }
                lost[hash >>> 6 & BUCKETS - 1] |= 1L << hash;
                return;
            }
            boolean incomplete = lost != null && (lost[hash >>> 6 & BUCKETS - 1] & 1L << hash) != 0;
            e = new Entry(object, dead, hash, handler, what, incomplete);
            e.next = buckets[at];
            buckets[at] = e;
            size++;
        }
        e.add(id, direct, System.nanoTime());
    }

    /** Removes entries of objects that are gone. */
    private void removeDead() {
        for (Reference<?> r = dead.poll(); r != null; r = dead.poll()) {
            remove((Entry) r);
        }
    }

    private void remove(Entry e) {
        int at = bucket(e.hash, e.handler, e.what);
        Entry before = null;
        for (Entry k = buckets[at]; k != null; before = k, k = k.next) {
            if (k == e) {
                if (before == null) {
                    buckets[at] = e.next;
                } else {
                    before.next = e.next;
                }
                size--;
                return;
            }
        }
    }

    /**
     * Takes out the message that a text describes: {@code Handler (CLASS) {HASH} CALLBACK: WHAT}. CALLBACK is
     * {@code null} or the result of the callback's {@code toString}, which is {@code CLASS@HASH} unless the class has a
     * method of its own. A Handler may also have its own.
     */
    private void take(ThreadTrace trace, String text) {
        int colon = text.lastIndexOf(": ");
        if (!text.startsWith(DISPATCHING) || colon < 0) {
            return;
        }
        int begin = text.lastIndexOf(' ', colon - 1) + 1;
        int sign = text.lastIndexOf('@', colon);
        if (sign > begin) {
            take(trace, text, begin, sign, hash(text, sign + 1, colon), false, 0);
            return;
        }
        int name = DISPATCHING.length() + HANDLER.length();
        int end = text.indexOf(") {", name);
        int close = text.indexOf("} null: ", name);
        if (text.startsWith(HANDLER, DISPATCHING.length()) && end >= 0 && close == colon - 6) {
            int what = Integer.parseInt(text.substring(colon + 2));
            take(trace, text, name, end, hash(text, end + 3, close), true, what);
        }
    }

    /** Returns the hexadecimal number in a part of a text, -1 if there is none; a hash is never negative. */
    private static int hash(String text, int from, int to) {
        int hash = 0;
        for (int k = from; k < to; k++) {
            int digit = Character.digit(text.charAt(k), 16);
            if (digit < 0 || hash >>> 27 != 0) {
                return -1;
            }
            hash = hash << 4 | digit;
        }
        return from < to ? hash : -1;
    }

    /** Takes out the message of the object whose class is at some place of the text and that has a hash. */
    private synchronized void take(ThreadTrace trace, String text, int nameBegin, int nameEnd, int hash,
            boolean handler, int what) {
        if (buckets == null || hash < 0) {
            return;
        }
        Entry found = null;
        for (Entry e = buckets[bucket(hash, handler, what)]; e != null; e = e.next) {
            Object object = e.hash == hash && e.handler == handler && e.what == what ? e.get() : null;
            String name = object == null ? "" : object.getClass().getName();
            if (object != null && name.length() == nameEnd - nameBegin && text.startsWith(name, nameBegin)) {
                if (found != null) {
                    // Two objects with the same text.
                    found.id = 0;
                    e.id = 0;
                }
                found = e;
            }
        }
        if (found == null) {
            return;
        }
        if (found.id != 0 && !found.incomplete) {
            trace.postedBy(found.id, found.nanos);
        }
        if (--found.posts <= 0) {
            remove(found);
            found.clear();
        }
    }
}
