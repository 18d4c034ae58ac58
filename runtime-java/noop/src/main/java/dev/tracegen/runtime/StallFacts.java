package dev.tracegen.runtime;

import java.util.List;

/** What {@link Stall} is made of, of which none is ever made here. */
abstract class StallFacts {
    Thread.State state;
    String lockOwner;
    List<PendingMessage> pending;
    long gcCount;
    long gcMillis;
    String scene;
    boolean foreground;
}
