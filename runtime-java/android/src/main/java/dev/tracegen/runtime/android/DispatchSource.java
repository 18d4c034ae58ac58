package dev.tracegen.runtime.android;

/**
 * Where a monitor hears of messages from: something that is put into a looper, which others may put something else
 * into. One object for each time that it is put there.
 */
abstract class DispatchSource {
    /** What stands in the looper when it is this source's. */
    abstract Object installed();

    /** What stands in the looper now, null for nothing. */
    abstract Object current();

    /** Whether {@link #top} can be now at all. */
    abstract boolean canReadCurrent();

    /** A new source of the kind, put in front of what stands there now. */
    abstract DispatchSource reinstall();

    /** Takes it out, or if somebody has put his own before it, makes it pass on and do nothing else. */
    abstract void release();

    /** {@code printer} or {@code observer}. */
    abstract String kind();

    /**
     * Whether something is the same of another copy of this library, loaded by another class loader. The two would win
     * the looper back from each other for ever.
     */
    abstract boolean isFromOtherCopy(Object other);

    /** Whether an object's class has the name of one of ours and is another. */
    static boolean hasSameClassName(Object other, Class<?> own) {
        return other != null && other.getClass() != own && other.getClass().getName().equals(own.getName());
    }
}
