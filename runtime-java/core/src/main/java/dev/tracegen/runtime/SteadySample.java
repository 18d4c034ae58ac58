package dev.tracegen.runtime;

/** A stack of a thread that was taken because it was time to, whatever the thread did. Immutable. */
final class SteadySample {
    final ThreadTrace trace;
    final long nanos;
    final Thread.State state;

    /** The innermost frame first; empty if the thread had none. */
    final StackTraceElement[] stack;

    /** The number of the thread's next record right before the stack was taken. */
    final long record;

    /** How many records the thread made from then until the stack had been taken. */
    final long records;

    /** CPU time of the thread by then, in nanoseconds; -1 if unknown. */
    final long cpuNanos;

    SteadySample(ThreadTrace trace, long nanos, Thread.State state, StackTraceElement[] stack, long record,
            long records, long cpuNanos) {
        this.trace = trace;
        this.nanos = nanos;
        this.state = state;
        this.stack = stack;
        this.record = record;
        this.records = records;
        this.cpuNanos = cpuNanos;
    }
}
