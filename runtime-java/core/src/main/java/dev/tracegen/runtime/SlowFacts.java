package dev.tracegen.runtime;

import java.util.List;

/** What is gathered about one slow message: some when it passes the threshold, the rest when it ends. */
final class SlowFacts {
    Thread.State state;
    StackTraceElement[] stack;
    String lockOwner;
    List<PendingMessage> pending;
    long sampleNanos;
    long gcCount = -1;
    long gcMillis = -1;
    String scene;
    boolean foreground;
}
