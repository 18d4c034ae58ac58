package com.tencent.matrix.trace.core;

/**
 * What classes call that were instrumented with {@code --preset matrix}, or by Matrix's own plugin: forwards to
 * {@link dev.tracegen.runtime.AppMethodBeat}.
 */
public final class AppMethodBeat {
    private AppMethodBeat() {
    }

    /**
     * A method was entered.
     *
     * @param methodId the method's ID in the mapping
     */
    public static void i(int methodId) {
        dev.tracegen.runtime.AppMethodBeat.i(methodId);
    }

    /**
     * A method is about to be left.
     *
     * @param methodId the method's ID in the mapping
     */
    public static void o(int methodId) {
        dev.tracegen.runtime.AppMethodBeat.o(methodId);
    }

    /**
     * An activity's window gained or lost the focus.
     *
     * @param activity the activity, null is ignored
     * @param isFocus whether its window has the focus now
     */
    public static void at(android.app.Activity activity, boolean isFocus) {
        dev.tracegen.runtime.AppMethodBeat.at(activity, isFocus);
    }
}
