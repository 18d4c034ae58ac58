package dev.tracegen.runtime;

import org.jspecify.annotations.Nullable;

/** The lock that a thread waits for, or the object that it waits on. Immutable. */
public final class LockWait {
    /** The name of the lock's class. */
    public final String lockClass;

    /** {@code System.identityHashCode} of the lock: it distinguishes locks of one class. */
    public final int identity;

    /** The thread that holds the lock; null if none does or if it is unknown. */
    public final @Nullable Thread owner;

    /** Creates the description of a lock. */
    public LockWait(String lockClass, int identity, @Nullable Thread owner) {
        this.lockClass = lockClass;
        this.identity = identity;
        this.owner = owner;
    }
}
