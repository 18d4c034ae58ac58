package dev.tracegen.runtime;

/** A stack of a thread at one moment. Immutable. */
final class StackSample {
    final ThreadTrace trace;
    final long nanos;
    final Thread.State state;
    final StackTraceElement[] stack;

    /** CPU time of the thread by then, in nanoseconds; -1 if unknown. */
    final long cpuNanos;

    StackSample(ThreadTrace trace, long nanos, Thread.State state, StackTraceElement[] stack, long cpuNanos) {
        this.trace = trace;
        this.nanos = nanos;
        this.state = state;
        this.stack = stack;
        this.cpuNanos = cpuNanos;
    }

    /** Takes a sample of a thread now. */
    static StackSample of(ThreadTrace trace, Platform platform) {
        Thread.State state = trace.thread.getState();
        StackTraceElement[] stack = trace.thread.getStackTrace();
        return new StackSample(trace, platform.nanoTime(), state, stack, platform.threadCpuNanos(trace.thread));
    }
}
