package dev.tracegen.runtime;

import java.util.List;

/** What {@link SlowMessage} is made of, of which none is ever made here. */
abstract class SlowFacts {
    Thread.State state;
    String lockOwner;
    List<PendingMessage> pending;
    long gcCount;
    long gcMillis;
    String scene;
    boolean foreground;
}
