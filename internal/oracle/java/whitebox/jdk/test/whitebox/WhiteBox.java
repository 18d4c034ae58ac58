package jdk.test.whitebox;

/**
 * The part of HotSpot's own test interface that we need. The name and the signatures are HotSpot's; {@code
 * -XX:+WhiteBoxAPI} makes it bind the natives, and the class has to be on the boot path.
 */
public final class WhiteBox {
    static {
        registerNatives();
    }

    private static native void registerNatives();

    /** Links, and so verifies, a class without initialising it and without reflecting on it. */
    public native void linkClass(Class<?> type);
}
