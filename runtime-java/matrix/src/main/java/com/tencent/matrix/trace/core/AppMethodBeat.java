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

    /**
     * Records that a method is about to exit.
     *
     * @param methodId the method's ID in the mapping
     */
    public static void o(int methodId) {
        dev.tracegen.runtime.AppMethodBeat.o(methodId);
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
}
