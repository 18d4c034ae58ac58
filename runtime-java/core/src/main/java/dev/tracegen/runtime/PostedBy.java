package dev.tracegen.runtime;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Which methods have posted the messages that wait. {@link AppMethodBeat#posted} adds to it, and code that watches a
 * message queue looks up each message that it sees, and so takes it out.
 *
 * <p>A message is known by its callback, or without a callback by its Handler and its {@code what}: a Looper's text has
 * no more. If several methods have posted the same, and it is not certain which of these posts a message is, the
 * message is not named. So a name is right unless the same object was also posted by code without probes.
 *
 * <p>It keeps no object alive. It keeps at most 4,096 objects; of those that do not fit it remembers the hash, and
 * names no message of an object with such a hash from then on. All methods may be called on any thread and never call
 * code of the app.
 */
public final class PostedBy {
    /** Recognises what messages are posted to. */
    public interface Targets {
        /**
         * Reports whether an object is a Handler.
         *
         * @param target any object
         * @return true if it is
         */
        boolean isHandler(Object target);

        /**
         * Reports whether an object posts the Runnables that it gets, in messages of their own: a Handler or a View.
         *
         * @param target any object
         * @return true if it does
         */
        boolean postsRunnables(Object target);

        /**
         * Reports whether an object is a message.
         *
         * @param posted any object
         * @return true if it is
         */
        boolean isMessage(Object posted);

        /**
         * Returns the Handler of a message.
         *
         * @param message a message
         * @return null if it has none
         */
        @Nullable Object handlerOf(Object message);

        /**
         * Returns the callback of a message.
         *
         * @param message a message
         * @return null if it has none
         */
        @Nullable Runnable callbackOf(Object message);

        /**
         * Returns the {@code what} of a message.
         *
         * @param message a message
         * @return the value
         */
        int whatOf(Object message);
    }

    private static final int MAX_ENTRIES = 4096;
    private static final int MAX_POSTS = 8;
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

        /** The oldest first. */
        Post posts;

        /** Which of the posts has already been dispatched is not certain, or some are missing. */
        boolean uncertain;

        /** The same, but all are by the same method, so that only their times are uncertain. */
        boolean timeless;

        Entry(Object object, ReferenceQueue<Object> queue, int hash, boolean handler, int what) {
            super(object, queue);
            this.hash = hash;
            this.handler = handler;
            this.what = what;
        }
    }

    private static final class Post {
        final int id;
        final long nanos;

        /** Whether it went to a Handler or a View, and not to an Executor, which may do anything with it. */
        final boolean direct;
        Post next;

        Post(int id, long nanos, boolean direct) {
            this.id = id;
            this.nanos = nanos;
            this.direct = direct;
        }
    }

    /** A method and a time, both 0 if they are unknown. */
    private static final class Poster {
        int id;
        long nanos;
    }

    private PostedBy(Targets targets) {
        this.targets = targets;
    }

    /**
     * Begins with an empty table.
     *
     * @param targets recognises what messages are posted to
     */
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
     * A message begins of which only the Looper's text is known. Reports the method that posted it to the trace of the
     * thread, if it is certain.
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
            report(trace, p.take(text, System.nanoTime()));
        } catch (Throwable e) {
            // Most likely a text that looks like no other. The message is not named.
        }
    }

    /**
     * A message ends. Reports the method that posted it to the trace of the thread, if it is certain.
     *
     * @param trace of the thread that ran the message
     * @param handler its Handler, null for none
     * @param callback its callback, null for none
     * @param what its {@code what}
     * @param beginNanos when it began, in {@code System.nanoTime()}; later posts are of other messages
     */
    public static void ended(ThreadTrace trace, @Nullable Object handler, @Nullable Runnable callback, int what,
            long beginNanos) {
        PostedBy p = current;
        Object object = callback != null ? callback : handler;
        if (p != null && p.size != 0 && object != null) {
            report(trace, p.take(object, callback == null, what, beginNanos));
        }
    }

    private static void report(ThreadTrace trace, Poster poster) {
        if (poster != null && poster.id != 0) {
            trace.postedBy(poster.id, poster.nanos);
        }
    }

    private static int bucket(int hash, boolean handler, int what) {
        int h = (handler ? hash + what * 0x9E3779B1 : hash) * 0x85EBCA6B;
        return (h ^ h >>> 15) & BUCKETS - 1;
    }

    private synchronized void add(Object object, boolean handler, int what, int id, boolean direct) {
        // The time is read under the lock, so that posts are in the order of their times.
        Post post = new Post(id, System.nanoTime(), direct);
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
            e = new Entry(object, dead, hash, handler, what);
            e.uncertain = lost != null && (lost[hash >>> 6 & BUCKETS - 1] & 1L << hash) != 0;
            e.next = buckets[at];
            buckets[at] = e;
            size++;
        }
        append(e, post);
    }

    private static void append(Entry e, Post post) {
        if (e.posts == null) {
            e.posts = post;
            return;
        }
        Post last = e.posts;
        boolean same = last.id == post.id;
        int n = 1;
        for (; last.next != null; last = last.next) {
            n++;
            same &= last.next.id == post.id;
        }
        last.next = post;
        if (n >= MAX_POSTS) {
            e.posts = e.posts.next;
            e.timeless = true;
            e.uncertain |= !same;
        }
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

    private synchronized Poster take(Object object, boolean handler, int what, long beginNanos) {
        if (buckets == null) {
            return null;
        }
        int hash = System.identityHashCode(object);
        for (Entry e = buckets[bucket(hash, handler, what)]; e != null; e = e.next) {
            if (e.hash == hash && e.handler == handler && e.what == what && e.get() == object) {
                return take(e, beginNanos);
            }
        }
        return null;
    }

    /**
     * Takes out the message that a text describes: {@code Handler (CLASS) {HASH} CALLBACK: WHAT}. CALLBACK is
     * {@code null} or the result of the callback's {@code toString}, which is {@code CLASS@HASH} unless the class has a
     * method of its own. A Handler may also have its own.
     */
    private Poster take(String text, long beginNanos) {
        int colon = text.lastIndexOf(": ");
        if (!text.startsWith(DISPATCHING) || colon < 0) {
            return null;
        }
        int begin = text.lastIndexOf(' ', colon - 1) + 1;
        int sign = text.lastIndexOf('@', colon);
        if (sign > begin) {
            return take(text, begin, sign, hash(text, sign + 1, colon), false, 0, beginNanos);
        }
        int name = DISPATCHING.length() + HANDLER.length();
        int end = text.indexOf(") {", name);
        int close = text.indexOf("} null: ", name);
        if (!text.startsWith(HANDLER, DISPATCHING.length()) || end < 0 || close != colon - 6) {
            return null;
        }
        int what = Integer.parseInt(text.substring(colon + 2));
        return take(text, name, end, hash(text, end + 3, close), true, what, beginNanos);
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
    private synchronized Poster take(String text, int nameBegin, int nameEnd, int hash, boolean handler, int what,
            long beginNanos) {
        if (buckets == null || hash < 0) {
            return null;
        }
        Entry found = null;
        for (Entry e = buckets[bucket(hash, handler, what)]; e != null; e = e.next) {
            Object object = e.hash == hash && e.handler == handler && e.what == what ? e.get() : null;
            if (object == null) {
                continue;
            }
            String name = object.getClass().getName();
            if (name.length() == nameEnd - nameBegin && text.startsWith(name, nameBegin)) {
                if (found != null) {
                    found.uncertain = true; // two objects with the same text
                    e.uncertain = true;
                }
                found = e;
            }
        }
        return found == null ? null : take(found, beginNanos);
    }

    /** Takes the oldest post out, and returns the method if it is certain. */
    private Poster take(Entry e, long beginNanos) {
        Poster poster = new Poster();
        int posts = 0;
        boolean direct = false;
        boolean certain = !e.uncertain;
        for (Post p = e.posts; p != null && p.nanos - beginNanos <= 0; p = p.next) {
            if (p.direct && !direct) {
                direct = true;
                posts = 0;
                certain = !e.uncertain;
            }
            if (p.direct == direct) {
                certain &= posts == 0 || p.id == poster.id;
                poster.id = p.id;
                poster.nanos = p.nanos;
                posts++;
            }
        }
        if (posts == 0) {
            return null;
        }
        if (posts > 1) {
            // The oldest one is taken out, but it may have been another.
            e.timeless = true;
            e.uncertain |= !certain;
        }
        if (!certain) {
            poster.id = 0;
        }
        if (e.timeless) {
            poster.nanos = 0;
        }
        e.posts = without(e.posts, true, beginNanos);
        e.posts = without(e.posts, false, beginNanos);
        if (e.posts == null) {
            remove(e);
            e.clear();
        }
        return poster;
    }

    /** Returns the list without the oldest post of a kind. */
    private static Post without(Post posts, boolean direct, long beginNanos) {
        Post before = null;
        for (Post p = posts; p != null && p.nanos - beginNanos <= 0; before = p, p = p.next) {
            if (p.direct == direct) {
                if (before == null) {
                    return p.next;
                }
                before.next = p.next;
                return posts;
            }
        }
        return posts;
    }
}
