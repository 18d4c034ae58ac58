package dev.tracegen.runtime;

/** What a thread did at one moment. Immutable. */
final class StackSample {
    final ThreadTrace trace;
    final long nanos;
    final Thread.State state;
    final StackTraceElement[] stack;

    /** How long the thread had been on a processor by then, in nanoseconds; -1 if not known. */
    final long cpuNanos;

    StackSample(ThreadTrace trace, long nanos, Thread.State state, StackTraceElement[] stack, long cpuNanos) {
        this.trace = trace;
        this.nanos = nanos;
        this.state = state;
        this.stack = stack;
        this.cpuNanos = cpuNanos;
    }

    /** Of a thread now. */
    static StackSample of(ThreadTrace trace, Platform platform) {
        Thread.State state = trace.thread.getState();
        StackTraceElement[] stack = trace.thread.getStackTrace();
        return new StackSample(trace, platform.nanoTime(), state, stack, platform.threadCpuNanos(trace.thread));
    }
}
