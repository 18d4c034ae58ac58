package com.tencent.matrix.trace.core;

/**
 * The class that is called by classes instrumented with {@code --preset matrix} or by Matrix's own plugin. It
 * forwards each call to {@link dev.tracegen.runtime.AppMethodBeat}.
 */
public final class AppMethodBeat {
    private AppMethodBeat() {
    }

    /**
     * Records that a method was entered.
     *
     * @param methodId the method's ID in the mapping
     */
    public static void i(int methodId) {
        dev.tracegen.runtime.AppMethodBeat.i(methodId);
    }

    /** Records that a method is about to exit. */
    public static void o(int methodId) {
        dev.tracegen.runtime.AppMethodBeat.o(methodId);
    }

    /**
     * Records that a suspend function is about to exit. Only classes that are instrumented with
     * {@code --trace-coroutines} call this and the next three.
     *
     * @param result what it returns
     */
    public static void o(Object result, int methodId) {
        dev.tracegen.runtime.AppMethodBeat.o(result, methodId);
    }

    /** Records that the innermost call makes the continuation by which it is resumed. */
    public static void continues(Object continuation, int methodId) {
        dev.tracegen.runtime.AppMethodBeat.continues(continuation, methodId);
    }

    /** Records that a suspend lambda is made. */
    public static void starts(Object continuation, int methodId) {
        dev.tracegen.runtime.AppMethodBeat.starts(continuation, methodId);
    }

    /** Records that the next call of a suspend function or lambda is by a continuation. */
    public static void resumes(Object continuation, int methodId) {
        dev.tracegen.runtime.AppMethodBeat.resumes(continuation, methodId);
    }

    /**
     * Records that the window of an activity gained or lost the focus.
     *
     * @param activity the activity; null is ignored
     * @param isFocus whether its window has the focus now
     */
    public static void at(android.app.Activity activity, boolean isFocus) {
        dev.tracegen.runtime.AppMethodBeat.at(activity, isFocus);
    }

    /**
     * Records that a method is about to post a message. Only classes that are instrumented with {@code --trace-posts}
     * call it.
     *
     * @param target what the method posts to
     * @param posted the {@code Runnable} or the {@code Message}
     */
    public static void posted(Object target, Object posted, int methodId) {
        dev.tracegen.runtime.AppMethodBeat.posted(target, posted, methodId);
    }

    /**
     * Records that a method is about to post a message that has nothing but a {@code what}. Only classes that are
     * instrumented with {@code --trace-posts} call it.
     *
     * @param target the {@code Handler}
     */
    public static void posted(Object target, int what, int methodId) {
        dev.tracegen.runtime.AppMethodBeat.posted(target, what, methodId);
    }
}
