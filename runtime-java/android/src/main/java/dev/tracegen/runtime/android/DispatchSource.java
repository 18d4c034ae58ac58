package dev.tracegen.runtime.android;

/**
 * What reports messages to a monitor: an object that is installed in a Looper and that other code may replace. Each
 * installation has its own DispatchSource.
 */
abstract class DispatchSource {
    /** Returns the object that this source has installed. */
    abstract Object installed();

    /** Returns the object that is installed in the Looper now, null for none. */
    abstract Object current();

    /** Reports whether {@link #current} can be read. */
    abstract boolean canReadCurrent();

    /** Installs a new source of the same kind in front of the object that is installed now. */
    abstract DispatchSource reinstall();

    /**
     * Uninstalls the source. If other code has installed an object in front of it, it stays and only calls the next
     * one.
     */
    abstract void release();

    /** Returns {@code printer} or {@code observer}. */
    abstract String kind();

    /**
     * Reports whether an object belongs to a copy of this library from another class loader. Two copies would replace
     * each other for ever.
     */
    abstract boolean isFromOtherCopy(Object other);

    /** Reports whether an object's class is another class with the same name as one of ours. */
    static boolean hasSameClassName(Object other, Class<?> own) {
        return other != null && other.getClass() != own && other.getClass().getName().equals(own.getName());
    }
}
