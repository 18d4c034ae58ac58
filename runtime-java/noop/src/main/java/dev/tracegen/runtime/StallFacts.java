package dev.tracegen.runtime;

import java.util.List;

/** The facts that {@link Stall} is created from. The no-op creates none. */
abstract class StallFacts {
    long suspendedNanos;
    Thread.State state;
    String lockOwner;
    List<PendingMessage> pending;
    long gcCount;
    long gcMillis;
    String scene;
    boolean foreground;
    long tickNanos;
    List<ThreadStack> taken;
}
